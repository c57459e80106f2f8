-- Removes a budget with all that belongs to it. KEYS: budget. ARGV: 1 now. Replies OK.
commands.register('ff_budget_delete', function(KEYS, ARGV)
  local b = budgets.load(KEYS[1], arguments.now(ARGV[1]))
  if not b then return reply.refuse('budget_not_found') end
  budgets.remove(b)
  return reply.ok()
end)
