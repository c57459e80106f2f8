-- Adds to a budget's usage: all of it, or nothing. KEYS: budget. ARGV: 1 now, 2 dedup key and 3 execution
-- (each may be empty), 4… dimension, amount. Replies OK and already_applied, applied, soft_breach or
-- hard_breach; of a breach also dimension, usage, limit; of a hard one then what becomes of a running
-- execution (on_hard_limit, or warn), whether the budget is exhausted (1 or 0), now, next_reset_at.
commands.register('ff_budget_report', function(KEYS, ARGV)
  local b = budgets.load(KEYS[1], arguments.now(ARGV[1]))
  if not b then return reply.refuse('budget_not_found') end
  local report = {execution = arguments.given(ARGV[3]), dimensions = {}, amounts = {}}
  for i = 4, #ARGV, 2 do
    report.dimensions[#report.dimensions + 1] = ARGV[i]
    report.amounts[#report.amounts + 1] = tonumber(ARGV[i + 1])
  end
  local dedup_key, signature
  if ARGV[2] ~= '' then
    dedup_key = table.concat({'ff:usagededup', b.tag, b.id, b.f.made_in_period or '0', ARGV[2]}, ':')
    signature = budgets.signature(report)
    local at, known = string.match(call('GET', dedup_key) or '', '^(%d+) (.*)$')
    if at and at + budgets.dedup_ms > b.now then
      if known ~= signature then return reply.refuse('duplicate_mismatch') end
      return reply.ok('already_applied')
    end
  end
  budgets.reset_if_due(b)
  local outcome, problem = budgets.spend(b, report, budgets.holds(b.f))
  if not outcome then return reply.refuse('invalid_input', problem) end
  if dedup_key and outcome.is_applied then
    local value = budgets.digits(b.now) .. ' ' .. signature
    -- In simulated time the server's clock must not end it.
    if ARGV[1] == '' then
      call('SET', dedup_key, value, 'PX', budgets.dedup_ms)
    else
      call('SET', dedup_key, value)
    end
  end
  if outcome.word ~= 'hard_breach' then
    return reply.ok(outcome.word, outcome.dimension, outcome.usage, outcome.limit)
  end
  return reply.ok(outcome.word, outcome.dimension, outcome.usage, outcome.limit,
    budgets.holds(b.f) and b.f.on_hard_limit or 'warn', budgets.exhausted(b) and '1' or '0',
    budgets.digits(b.now), budgets.next_reset(b) or '')
end)
