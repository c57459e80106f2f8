-- Takes back what an execution spent since the last reset. KEYS: budget. ARGV: 1 now, 2 execution. Safe
-- to repeat. Replies OK and what was taken back: dimension, amount, …
commands.register('ff_budget_release', function(KEYS, ARGV)
  local b = budgets.load(KEYS[1], arguments.now(ARGV[1]))
  if not b then return reply.refuse('budget_not_found') end
  budgets.reset_if_due(b)
  return reply.ok(unpack(budgets.take_back(b, ARGV[2])))
end)
