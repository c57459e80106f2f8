-- Whether work that spends from a budget may start.
--   keys   budget
--   args   now
--   reply  OK next_reset_at; if it may not, also dimension, usage, limit
server.register_function{
  function_name = 'ff_budget_check',
  callback = function(KEYS, ARGV)
    local key, now = KEYS[1], arguments.now(ARGV[1])

    local b = budgets.glance(key, now)
    if not b then return reply.refuse('budget_not_found') end
    return reply.ok(budgets.next_reset(b) or '', budgets.exhausted(b))
  end,
  flags = {'no-writes'},
}
