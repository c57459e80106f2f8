-- Forgets what an execution spent, without taking it back. KEYS: budget. ARGV: 1 now, 2 execution. Safe to
-- repeat. Replies OK.
commands.register('ff_budget_forget', function(KEYS, ARGV)
  local b = budgets.load(KEYS[1], arguments.now(ARGV[1]))
  if b then budgets.forget_spending(b, ARGV[2]) end
  return reply.ok()
end)
