-- Takes the label of ff_block away, if it is of this reason.
--   keys   core
--   args   now, origin, reason
--   reply  OK event changed (1 or 0)
commands.register('ff_unblock', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, reason = ARGV[1], ARGV[2], ARGV[3]

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  if not blocking.is_blocked(x) or x.f.blocking_reason ~= reason then return reply.ok('', '0') end

  execution.become_waiting(x)
  execution.save(x)
  return reply.ok(events.tell(x, 'unblocked', origin), '1')
end)
