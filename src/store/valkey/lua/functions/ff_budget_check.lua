-- Whether work that spends from a budget may start. KEYS: budget. ARGV: 1 now. Replies OK next_reset_at
-- and, if it may not: dimension, usage, limit.
server.register_function{
  function_name = 'ff_budget_check',
  callback = function(KEYS, ARGV)
    local b = budgets.glance(KEYS[1], arguments.now(ARGV[1]))
    if not b then return reply.refuse('budget_not_found') end
    return reply.ok(budgets.next_reset(b) or '', budgets.exhausted(b))
  end,
  flags = {'no-writes'},
}
