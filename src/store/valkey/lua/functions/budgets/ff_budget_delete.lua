-- Removes a budget with everything that belongs to it.
--   keys   budget
--   args   now
--   reply  OK
commands.register('ff_budget_delete', function(KEYS, ARGV)
  local key, now = KEYS[1], arguments.now(ARGV[1])

  local b = budgets.load(key, now)
  if not b then return reply.refuse('budget_not_found') end

  budgets.remove(b)
  budgets.tell_opening(b)
  return reply.ok()
end)
