-- Removes the record of an execution's spending, without taking it back.
--   keys   budget
--   args   now, execution_id
--   reply  OK
-- Safe to repeat.
commands.register('ff_budget_forget', function(KEYS, ARGV)
  local key, now, execution_id = KEYS[1], arguments.now(ARGV[1]), ARGV[2]

  local b = budgets.load(key, now)
  if b then budgets.forget_spending(b, execution_id) end
  return reply.ok()
end)
