-- Shared code of the contract's functions of budgets and quotas. These name things several times over;
-- all keys follow from the one of the definition. Time is the caller's.
local admitting = {}

local dimensions_max = 64

-- Refuses a definition key that is none, or is not that of `id` (nil: not told).
function admitting.check_key(read, parse, key, id, name)
  local _, named = parse(key)
  if not named or id and named ~= id then
    read:keep(nil, reply.refuse('invalid_input',
      name .. ' must be the one in the key of the definition, got: ' .. tostring(id or key)))
  end
end

-- How many dimensions follow; `per` values of each, and at most `more` behind them.
function admitting.read_count(read, name, ARGV, first, per, more)
  local count = read:whole(name, ARGV[first - 1], 0, dimensions_max)
  if not count then return 0 end
  local given = #ARGV - first + 1
  if given < count * per or given > count * per + more then
    read:keep(nil, reply.refuse('invalid_input', string.format(
      '%s says %d, but %d values follow', name, count, given)))
    return 0
  end
  return count
end

function admitting.read_dimension(read, seen, text)
  local dimension = read:text('dimension', text)
  if not dimension then return nil end
  if seen[dimension] then
    return read:keep(nil, reply.refuse('invalid_input', 'dimension stands twice: ' .. dimension))
  end
  seen[dimension] = true
  return dimension
end

local function read_dedup_key(read, b_tag, text)
  if not text or text == '' then return nil end
  if not b_tag or string.match(text, '{[^}]*}') ~= b_tag then
    return read:keep(nil,
      reply.refuse('invalid_input', 'dedup_key must have the tag of the budget, got: ' .. text))
  end
  return text
end

-- Reports what `report` (dimensions, amounts, maybe execution) says. Nothing beyond a hard limit is ever
-- applied. Replies as ff_report_usage_and_check.
local function spend(key, now, report, dedup_key)
  local b = budgets.load(key, now)
  if not b then return reply.refuse('budget_not_found') end
  local signature = dedup_key and budgets.signature(report)
  -- Each budget has its own keys, although callers name them by partition.
  dedup_key = dedup_key and dedup_key .. ':' .. b.id
  local known = dedup_key and server.call('GET', dedup_key)
  if known then
    if known == signature then return {1, 'ALREADY_APPLIED'} end
    return reply.refuse('invalid_input', 'dedup_key was used for another report')
  end
  local outcome, problem = budgets.judge(b, report, true)
  if not outcome then
    return reply.refuse('invalid_input', 'more than can be counted: ' .. problem)
  end

  budgets.spend(b, report, outcome)
  if dedup_key and outcome.is_applied then
    server.call('SET', dedup_key, signature, 'PX', budgets.dedup_ms)
  end
  budgets.tell_opening(b)
  if outcome.word == 'applied' then return {1, 'OK'} end
  return {1, string.upper(outcome.word), outcome.dimension, outcome.usage, outcome.limit}
end

-- `places` tells where in ARGV each dimension and each amount stands, and how many values may follow them:
-- now_ms, a dedup key and maybe an execution.
function admitting.report(KEYS, ARGV, count_name, places)
  local read = arguments.reader()
  local key = KEYS[3]
  local tag = budgets.parse(key)
  admitting.check_key(read, budgets.parse, key, nil, 'KEYS[3]')
  local count = admitting.read_count(read, count_name, ARGV, 2, 2, places.more)
  local report, seen = {dimensions = {}, amounts = {}}, {}
  for i = 1, count do
    report.dimensions[i] = admitting.read_dimension(read, seen, ARGV[places.of_dimension(i, count)])
    report.amounts[i] = read:whole('delta', ARGV[places.of_amount(i, count)], 0)
  end
  local behind = 2 + 2 * count
  local now = read:time('now_ms', ARGV[behind])
  local dedup_key = read_dedup_key(read, tag, ARGV[behind + 1])
  report.execution = places.more > 2 and arguments.given(ARGV[behind + 2] or '') or nil
  if read.refused then return read.refused end
  return spend(key, now, report, dedup_key)
end

return admitting
