-- Gives an execution back without ending its attempt. KEYS: core. ARGV: now, origin, 3 lease_id,
-- 4 lease_epoch, 5 attempt_id, 6 how (worker_delay, waiting_children or handed_back), 7 until (of a
-- delay), 8 reason. Replies OK event state. Repeated with the same fence it finds itself done.
local told_as = {
  worker_delay = 'delayed', waiting_children = 'waiting_children', handed_back = 'handed_back',
}

commands.register('ff_pause', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local how = ARGV[6]
  local refused = leases.check(x, ARGV[3], ARGV[4], ARGV[5])
  if refused then
    local paused = leases.attempt_of(x, ARGV[3], ARGV[4], ARGV[5], 'suspension_id', 'ended_at')
    if paused and paused[1] == how and not paused[2] then return reply.ok('', x.f.public_state) end
    return refused
  end
  pausing.pause(x, how, tonumber(ARGV[7]), ARGV[8])
  execution.save(x)
  return reply.ok(events.tell(x, told_as[how], ARGV[2]), x.f.public_state)
end)
