-- Whose spending is in a budget's ledger; none once a reset is due. KEYS: budget. ARGV: 1 now, 2 after whom
-- (empty: from the start), 3 how many at most. Replies OK and executions.
server.register_function{
  function_name = 'ff_budget_ledger',
  callback = function(KEYS, ARGV)
    local b = budgets.glance(KEYS[1], arguments.now(ARGV[1]))
    if not b or budgets.is_due(b) then return reply.ok() end
    return reply.ok(unpack(call('ZRANGE', KEYS[1] .. ':by_exec:index',
      ARGV[2] == '' and '-' or '(' .. ARGV[2], '+', 'BYLEX', 'LIMIT', 0, ARGV[3])))
  end,
  flags = {'no-writes'},
}
