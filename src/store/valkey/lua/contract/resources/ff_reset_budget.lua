-- Sets a budget's usage to zero.
--   keys   definition, usage, budget_resets
--   args   budget_id, now_ms
--   reply  OK next_reset_at (0: none)
-- Periods are counted from the first one, not from the call of a reset: an early reset does not shift them.
server.register_function('ff_reset_budget', function(KEYS, ARGV)
  local key, budget_id, now_ms = KEYS[1], ARGV[1], ARGV[2]

  local read = arguments.reader()
  admitting.check_key(read, budgets.parse, key, budget_id or '', 'budget_id')
  local now = read:time('now_ms', now_ms)
  if read.refused then return read.refused end
  local b = budgets.load(key, now)
  if not b then return reply.refuse('budget_not_found') end

  budgets.reset(b)
  budgets.tell_opening(b)
  return reply.ok(b.f.next_reset_at or '0')
end)
