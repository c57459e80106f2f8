-- Gives an execution back without ending its attempt.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, how (worker_delay, waiting_children or
--          handed_back), delay_until (of worker_delay), reason
--   reply  OK event state
-- Repeated with the same fence, it succeeds.
local event_names = {
  worker_delay = 'delayed', waiting_children = 'waiting_children', handed_back = 'handed_back',
}

commands.register('ff_pause', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, lease_id, lease_epoch, attempt_id, how, delay_until, reason = unpack(ARGV)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
  if refused then
    local paused = leases.attempt_of(x, lease_id, lease_epoch, attempt_id, 'suspension_id', 'ended_at')
    if paused and paused[1] == how and not paused[2] then return reply.ok('', x.f.public_state) end
    return refused
  end

  pausing.pause(x, how, tonumber(delay_until), reason)
  execution.save(x)
  return reply.ok(events.tell(x, event_names[how], origin), execution.reached(x))
end)
