-- Removes ledgers that a reset or the end of their budget left behind. KEYS: any key of the partition.
-- ARGV: 1 how many at most. Replies OK and whether there are more (1 or 0).
server.register_function('ff_budget_tidy', function(KEYS, ARGV)
  local more = budgets.tidy(string.match(KEYS[1], '{[^}]*}'), ARGV[1])
  return reply.ok(more and '1' or '0')
end)
