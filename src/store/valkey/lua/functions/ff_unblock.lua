-- Takes back what ff_block said, if that was for this reason. KEYS: core. ARGV: now, origin, 3 reason.
-- Replies OK event changed (1 or 0).
commands.register('ff_unblock', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  if not blocking.is_blocked(x) or x.f.blocking_reason ~= ARGV[3] then return reply.ok('', '0') end
  execution.become_waiting(x)
  execution.save(x)
  return reply.ok(events.tell(x, 'unblocked', ARGV[2]), '1')
end)
