-- Removes ledgers that a reset or the removal of their budget left behind.
--   keys   any key of the partition
--   args   now, ledgers_max
--   reply  OK and whether there are more (1 or 0)
server.register_function('ff_budget_tidy', function(KEYS, ARGV)
  local tag, ledgers_max = keys.tag_in(KEYS[1]), ARGV[2]

  return reply.ok(budgets.tidy(tag, ledgers_max) and '1' or '0')
end)
