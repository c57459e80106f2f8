-- Sets usage to zero. KEYS: budget. ARGV: 1 now, 2 whether only if its time has come (1 or 0). Replies OK
-- next_reset_at (empty: none).
commands.register('ff_budget_reset', function(KEYS, ARGV)
  local b = budgets.load(KEYS[1], arguments.now(ARGV[1]))
  if not b then return reply.refuse('budget_not_found') end
  if ARGV[2] ~= '1' or budgets.is_due(b) then budgets.reset(b) end
  return reply.ok(b.f.next_reset_at or '')
end)
