-- Takes back an execution's spending since the last reset.
--   keys   budget
--   args   now, execution_id
--   reply  OK and what was taken back: dimension, amount, …
-- Safe to repeat.
commands.register('ff_budget_release', function(KEYS, ARGV)
  local key, now, execution_id = KEYS[1], arguments.now(ARGV[1]), ARGV[2]

  local b = budgets.load(key, now)
  if not b then return reply.refuse('budget_not_found') end

  budgets.reset_if_due(b)
  local released = budgets.take_back(b, execution_id)
  budgets.tell_opening(b)
  return reply.ok(unpack(released))
end)
