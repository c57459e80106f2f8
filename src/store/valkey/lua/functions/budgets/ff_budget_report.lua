-- Adds to a budget's usage: the whole report, or nothing.
--   keys   budget
--   args   now, dedup_key, execution_id (both may be empty), then dimension and amount of each. A dedup_key
--          that begins with \31 is the id of the call: repeated with it, the function replies as the first
--          time, for as long as a client sends a call again.
--   reply  OK and already_applied, applied, soft_breach or hard_breach; of a breach also dimension, usage,
--          limit; of a hard one then the action on running executions (on_hard_limit, or warn), whether the
--          budget is exhausted (1 or 0), now, next_reset_at
local function read_report(ARGV, execution_id)
  local report = {execution = arguments.given(execution_id), dimensions = {}, amounts = {}}
  for i = 4, #ARGV, 2 do
    report.dimensions[#report.dimensions + 1] = ARGV[i]
    report.amounts[#report.amounts + 1] = tonumber(ARGV[i + 1])
  end
  return report
end

-- The signature of the report that this key was used for in the last day; nil if there is none.
local function known_signature(b, dedup_key)
  local at, signature = string.match(server.call('GET', dedup_key) or '', '^(%d+) (.*)$')
  return at and at + budgets.dedup_ms > b.now and signature or nil
end

local function is_call(dedup_name)
  return string.sub(dedup_name, 1, 1) == '\31'
end

-- The first reply to a call, as it is stored.
local function stored_reply(text)
  local answer = reply.ok()
  for part in string.gmatch(text .. '\31', '([^\31]*)\31') do answer[#answer + 1] = part end
  return answer
end

local function remember(b, dedup_key, signature, is_simulated)
  local value = budgets.digits(b.now) .. ' ' .. signature
  -- In simulated time the server's clock must not end it.
  if is_simulated then
    server.call('SET', dedup_key, value)
  else
    server.call('SET', dedup_key, value, 'PX', budgets.dedup_ms)
  end
end

local function report_usage(ARGV, b, dedup_name)
  local now_text, execution_id = ARGV[1], ARGV[3]

  local report = read_report(ARGV, execution_id)
  local dedup_key, signature
  if dedup_name ~= '' then
    dedup_key = table.concat({'ff:usagededup', b.tag, b.id, b.f.made_in_period or '0', dedup_name}, ':')
    signature = budgets.signature(report)
    local known = known_signature(b, dedup_key)
    if known and known ~= signature then return reply.refuse('duplicate_mismatch') end
    if known then return reply.ok('already_applied') end
  end
  local outcome, problem = budgets.judge(b, report, budgets.holds(b.f))
  if not outcome then return reply.refuse('invalid_input', problem) end

  budgets.spend(b, report, outcome)
  if dedup_key and outcome.is_applied then remember(b, dedup_key, signature, now_text ~= '') end
  budgets.tell_opening(b)
  if outcome.word ~= 'hard_breach' then
    return reply.ok(outcome.word, outcome.dimension, outcome.usage, outcome.limit)
  end
  return reply.ok(outcome.word, outcome.dimension, outcome.usage, outcome.limit,
    budgets.holds(b.f) and b.f.on_hard_limit or 'warn', budgets.exhausted(b) and '1' or '0',
    budgets.digits(b.now), budgets.next_reset(b) or '')
end

commands.register('ff_budget_report', function(KEYS, ARGV)
  local key, now_text, dedup_name = KEYS[1], ARGV[1], ARGV[2]

  local b = budgets.load(key, arguments.now(now_text))
  if not b then return reply.refuse('budget_not_found') end
  if not is_call(dedup_name) then return report_usage(ARGV, b, dedup_name) end
  local call_key = budgets.call_key(b.tag, string.sub(dedup_name, 2))
  local first = server.call('GET', call_key)
  if first then return stored_reply(first) end
  local answer = report_usage(ARGV, b, '')
  if answer[1] == 1 then
    server.call('SET', call_key, table.concat(answer, '\31', 3), 'PX', budgets.call_ms)
  end
  return answer
end)
