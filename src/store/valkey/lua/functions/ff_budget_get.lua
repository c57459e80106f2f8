-- A budget as it is; one whose reset is due as it is after that. KEYS: budget. ARGV: 1 now. Replies OK
-- definition limits usage (each a flat list) next_reset_at and, while it keeps work from starting:
-- dimension, usage, limit.
server.register_function{
  function_name = 'ff_budget_get',
  callback = function(KEYS, ARGV)
    local b = budgets.load(KEYS[1], arguments.now(ARGV[1]))
    if not b then return reply.refuse('budget_not_found') end
    local usage = budgets.is_due(b) and {} or call('HGETALL', KEYS[1] .. ':usage')
    return reply.ok(call('HGETALL', KEYS[1]), call('HGETALL', KEYS[1] .. ':limits'), usage,
      budgets.next_reset(b) or '', budgets.exhausted(b))
  end,
  flags = {'no-writes'},
}
