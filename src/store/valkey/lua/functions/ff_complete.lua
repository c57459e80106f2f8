-- Ends an execution with a result. KEYS: core. ARGV: now, origin, 3 lease_id, 4 lease_epoch,
-- 5 attempt_id, 6 whether there is a result (1 or 0), 7 result, 8 content_type. Replies OK event state.
-- Repeated with the same fence it answers as the first time.
commands.register('ff_complete', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, ARGV[3], ARGV[4], ARGV[5])
  if refused then
    local ended = leases.attempt_of(x, ARGV[3], ARGV[4], ARGV[5], 'attempt_state')
    if ended and ended[1] == 'ended_success' then return reply.ok('', 'completed') end
    return refused
  end
  ending.complete(x, ARGV[6] == '1' and ARGV[7] or nil, arguments.given(ARGV[8]))
  execution.save(x)
  return reply.ok(events.tell(x, 'completed', ARGV[2]), x.f.public_state)
end)
