-- A budget as it is stored; one whose reset is due as it is after that.
--   keys   budget
--   args   now
--   reply  OK definition limits usage (each a flat list) next_reset_at; while work may not start, also
--          dimension, usage, limit
server.register_function{
  function_name = 'ff_budget_get',
  callback = function(KEYS, ARGV)
    local key, now = KEYS[1], arguments.now(ARGV[1])

    local b = budgets.load(key, now)
    if not b then return reply.refuse('budget_not_found') end
    local usage = budgets.is_due(b) and {} or server.call('HGETALL', key .. ':usage')
    return reply.ok(server.call('HGETALL', key), server.call('HGETALL', key .. ':limits'), usage,
      budgets.next_reset(b) or '', budgets.exhausted(b))
  end,
  flags = {'no-writes'},
}
