-- The executions in a budget's ledger; none once a reset is due.
--   keys   budget
--   args   now, after which execution (empty: from the start), executions_max
--   reply  OK and execution ids
server.register_function{
  function_name = 'ff_budget_ledger',
  callback = function(KEYS, ARGV)
    local key, now, after, executions_max = KEYS[1], arguments.now(ARGV[1]), ARGV[2], ARGV[3]

    local b = budgets.glance(key, now)
    if not b or budgets.is_due(b) then return reply.ok() end
    return reply.ok(unpack(server.call('ZRANGE', key .. ':by_exec:index',
      after == '' and '-' or '(' .. after, '+', 'BYLEX', 'LIMIT', 0, executions_max)))
  end,
  flags = {'no-writes'},
}
