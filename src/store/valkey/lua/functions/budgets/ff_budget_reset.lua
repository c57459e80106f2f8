-- Sets a budget's usage to zero.
--   keys   budget
--   args   now, only_if_due (1 or 0)
--   reply  OK next_reset_at (empty: none)
commands.register('ff_budget_reset', function(KEYS, ARGV)
  local key, now, only_if_due = KEYS[1], arguments.now(ARGV[1]), ARGV[2] == '1'

  local b = budgets.load(key, now)
  if not b then return reply.refuse('budget_not_found') end

  if not only_if_due or budgets.is_due(b) then budgets.reset(b) end
  budgets.tell_opening(b)
  return reply.ok(b.f.next_reset_at or '')
end)
