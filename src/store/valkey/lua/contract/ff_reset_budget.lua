-- Sets a budget's usage to zero. KEYS: 1 definition, 2 usage, 3 budget_resets. ARGV: 1 budget_id,
-- 2 now_ms. Replies OK next_reset_at (0: none). Periods are counted from the first one, not from when
-- somebody came round to a reset; one before its time does not shift them.
server.register_function('ff_reset_budget', function(KEYS, ARGV)
  local read = arguments.reader()
  admitting.check_key(read, budgets.parse, KEYS[1], ARGV[1] or '', 'budget_id')
  local now = read:time('now_ms', ARGV[2])
  if read.refused then return read.refused end
  local b = budgets.load(KEYS[1], now)
  if not b then return reply.refuse('budget_not_found') end
  budgets.reset(b)
  return reply.ok(b.f.next_reset_at or '0')
end)
