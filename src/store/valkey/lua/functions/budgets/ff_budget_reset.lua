-- Sets a budget's usage to zero.
--   keys   budget
--   args   now, only_if_due (1 or 0), call (its id; older programs leave it out)
--   reply  OK next_reset_at (empty: none)
-- Repeated with the same call, it replies as the first time.
commands.register('ff_budget_reset', function(KEYS, ARGV)
  local key, now, only_if_due, call = KEYS[1], arguments.now(ARGV[1]), ARGV[2] == '1', ARGV[3]

  local b = budgets.load(key, now)
  if not b then return reply.refuse('budget_not_found') end
  if call and b.f.reset_call == call then return reply.ok(b.f.next_reset_at or '') end

  if not only_if_due or budgets.is_due(b) then budgets.reset(b) end
  if call then server.call('HSET', key, 'reset_call', call) end
  budgets.tell_opening(b)
  return reply.ok(b.f.next_reset_at or '')
end)
