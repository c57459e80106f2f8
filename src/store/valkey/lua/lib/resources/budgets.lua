-- Budgets: how much may be spent, and what has been. A budget is a definition hash; beside it stand its
-- limits (`hard:<dimension>`, `soft:<dimension>`), its usage by dimension (no zeros), and what each
-- execution spent since the last reset (its ledger). Amounts are whole and stored as plain digits.
local budgets = {}

local amount_max = 9007199254740991  -- what Lua counts exactly
local usage_dimensions_max = 256
budgets.dedup_ms = 86400000
budgets.amount_max = amount_max

-- In a ledger: of which period of its budget it is. No dimension has such a name.
local period_field = '\31period'

local function digits(number)
  return string.format('%.0f', number)
end
budgets.digits = digits

-- Tag and id in the name of a definition hash; nil if it is none.
function budgets.parse(key)
  return string.match(key or '', '^ff:budget:({b:%d+}):([^:]+)$')
end

local function object(key, now, fields)
  local tag, id = budgets.parse(key)
  return {key = key, tag = tag, id = id, now = now, f = fields}
end

-- nil if there is none.
function budgets.load(key, now)
  local flat = server.call('HGETALL', key)
  if #flat == 0 then return nil end
  local fields = {}
  for i = 1, #flat, 2 do
    if flat[i + 1] ~= '' then fields[flat[i]] = flat[i + 1] end
  end
  return fields.created_at and object(key, now, fields) or nil
end

-- The same with no more than what budgets.exhausted and budgets.next_reset look at.
function budgets.glance(key, now)
  local f = server.call('HMGET', key, 'created_at', 'enforcement_mode', 'on_hard_limit', 'next_reset_at',
    'reset_interval_ms')
  if not f[1] then return nil end
  return {key = key, now = now, f = {
    enforcement_mode = f[2], on_hard_limit = f[3], next_reset_at = arguments.given(f[4] or ''),
    reset_interval_ms = f[5],
  }}
end

function budgets.namespace(b)
  return b.f.namespace or 'default'
end

local function index(b, what)
  return keys.index(b.tag, what)
end

local function ledger_key(b, execution_id)
  return b.key .. ':by_exec:' .. execution_id
end

-- Publishes that waiting work may be able to start, if the change made room for it. The last step of a
-- function that changes a budget.
function budgets.tell_opening(b)
  if b.has_room then events.tell_opening('budget', b.tag, budgets.namespace(b), b.id) end
end

-- Whether hard limits refuse and hold back, or are only told of. Words of other programs count as
-- strict.
local function holds(f)
  return f.enforcement_mode ~= 'advisory' and f.on_hard_limit ~= 'warn'
end
budgets.holds = holds

-- Where the reply to a call is kept, for as long as a client sends a call again.
budgets.call_ms = 60000
function budgets.call_key(tag, call)
  return 'ff:usagecall:' .. tag .. ':' .. call
end

-- ---- Making and removing --------------------------------------------------------------------------

-- A number that no budget or period of this partition had before.
local function new_period(b)
  return server.call('INCR', index(b, 'periods'))
end

-- `fields` is the definition as it is given, `limits` a flat list of limits. Returns the budget.
function budgets.create(key, now, fields, limits)
  local b = object(key, now, fields)
  local period = new_period(b)
  fields.budget_id, fields.created_at, fields.last_updated_at = b.id, digits(now), digits(now)
  fields.breach_count, fields.soft_breach_count = 0, 0
  fields.period, fields.made_in_period = period, period
  local interval = tonumber(fields.reset_interval_ms) or 0
  if interval > 0 then
    fields.next_reset_at = digits(now + interval)
    server.call('ZADD', index(b, 'budget_resets'), fields.next_reset_at, b.id)
  end
  local flat = {}
  for field, value in pairs(fields) do
    flat[#flat + 1] = field
    flat[#flat + 1] = value
  end
  server.call('HSET', key, unpack(flat))
  if #limits > 0 then server.call('HSET', key .. ':limits', unpack(limits)) end
  server.call('SADD', index(b, 'budget_policies'), b.id)
  server.call('ZADD', index(b, 'budgets:' .. budgets.namespace(b)), 0, b.id)
  b.has_room = true
  return b
end

-- The ledgers are forgotten at once, and removed part by part (budgets.tidy).
local function empty_ledgers(b)
  local ledgers = b.key .. ':by_exec:index'
  if server.call('EXISTS', ledgers) == 0 then return end
  local stale = ledgers .. ':' .. tostring(new_period(b))
  server.call('RENAME', ledgers, stale)
  server.call('SADD', index(b, 'stale_ledgers'), stale)
end

function budgets.remove(b)
  empty_ledgers(b)
  server.call('UNLINK', b.key, b.key .. ':limits', b.key .. ':usage')
  server.call('ZREM', index(b, 'budget_resets'), b.id)
  server.call('SREM', index(b, 'budget_policies'), b.id)
  server.call('ZREM', index(b, 'budgets:' .. budgets.namespace(b)), b.id)
  b.has_room = true
end

-- ---- Resets ---------------------------------------------------------------------------------------

function budgets.is_due(b)
  return b.f.next_reset_at ~= nil and tonumber(b.f.next_reset_at) <= b.now
end

-- The end of the period that `now` is in: counted from the first one, not from when somebody came round
-- to it. nil: there is none.
function budgets.next_reset(b)
  if not budgets.is_due(b) then return b.f.next_reset_at end
  local due, interval = tonumber(b.f.next_reset_at), tonumber(b.f.reset_interval_ms)
  return digits(due + (math.floor((b.now - due) / interval) + 1) * interval)
end

-- Usage is zero again. If a reset was due, this is it.
function budgets.reset(b)
  local f, next_reset_at = b.f, budgets.next_reset(b)
  if next_reset_at then server.call('ZADD', index(b, 'budget_resets'), next_reset_at, b.id) end
  f.reset_count = digits((f.reset_count or 0) + 1)
  f.last_reset_at, f.last_updated_at, f.next_reset_at = digits(b.now), digits(b.now), next_reset_at
  f.last_breach_at, f.last_breach_dim = nil, nil
  f.period = tostring(new_period(b))
  server.call('HSET', b.key, 'reset_count', f.reset_count, 'last_reset_at', f.last_reset_at,
    'last_updated_at', f.last_updated_at, 'period', f.period, 'last_breach_at', '',
    'last_breach_dim', '', 'next_reset_at', next_reset_at or '')
  server.call('UNLINK', b.key .. ':usage')
  empty_ledgers(b)
  b.has_room = true
end

function budgets.reset_if_due(b)
  if budgets.is_due(b) then budgets.reset(b) end
end

-- ---- Checking -------------------------------------------------------------------------------------

-- Why work that spends from it may not start: dimension, usage, limit. nil: it may.
function budgets.exhausted(b)
  if not holds(b.f) or budgets.is_due(b) then return nil end
  local limits, dimensions, hard = server.call('HGETALL', b.key .. ':limits'), {}, {}
  for i = 1, #limits, 2 do
    local limit = tonumber(limits[i + 1]) or 0
    if limit > 0 and string.sub(limits[i], 1, 5) == 'hard:' then
      local dimension = string.sub(limits[i], 6)
      dimensions[#dimensions + 1], hard[dimension] = dimension, limit
    end
  end
  if #dimensions == 0 then return nil end
  local usage, first = server.call('HMGET', b.key .. ':usage', unpack(dimensions)), nil
  local used_of_first
  for i, dimension in ipairs(dimensions) do
    local used = tonumber(usage[i]) or 0
    if used >= hard[dimension] and (not first or dimension < first) then
      first, used_of_first = dimension, used
    end
  end
  if first then return first, digits(used_of_first), digits(hard[first]) end
end

-- ---- Spending -------------------------------------------------------------------------------------

-- Text of a report, for comparison with another report under the same dedup key.
function budgets.signature(report)
  local parts = {report.execution or ''}
  for i, dimension in ipairs(report.dimensions) do
    parts[#parts + 1] = dimension
    parts[#parts + 1] = digits(report.amounts[i])
  end
  return table.concat(parts, '\31')
end

local function limits_of(b, dimensions)
  local names = {}
  for i, dimension in ipairs(dimensions) do
    names[2 * i - 1], names[2 * i] = 'hard:' .. dimension, 'soft:' .. dimension
  end
  return server.call('HMGET', b.key .. ':limits', unpack(names))
end

-- The first place in the report that brings usage beyond a limit: `kind` is 1 (hard) or 0 (soft).
local function first_beyond(report, used, limits, kind)
  for i, amount in ipairs(report.amounts) do
    local limit = tonumber(limits[2 * i - kind]) or 0
    if limit > 0 and used[i] + amount > limit then return i, limit end
  end
end

-- Of the report's dimensions; nothing once a reset is due.
local function usage_of(b, dimensions)
  local used = budgets.is_due(b) and {} or server.call('HMGET', b.key .. ':usage', unpack(dimensions))
  for i = 1, #dimensions do used[i] = tonumber(used[i]) or 0 end
  return used
end

-- The name of what cannot be counted, if anything.
local function uncountable(b, report, used)
  local added = 0
  for i, amount in ipairs(report.amounts) do
    if used[i] + amount > amount_max then return report.dimensions[i] end
    if used[i] == 0 and amount > 0 then added = added + 1 end
  end
  if added == 0 then return nil end
  local stored = budgets.is_due(b) and 0 or server.call('HLEN', b.key .. ':usage')
  if stored + added > usage_dimensions_max then return 'dimensions' end
end

local function add_to_ledger(b, report)
  local key = ledger_key(b, report.execution)
  local period = b.f.period or '0'
  if server.call('HGET', key, period_field) ~= period then
    server.call('DEL', key)
    server.call('HSET', key, period_field, period)
  end
  for i, dimension in ipairs(report.dimensions) do
    if report.amounts[i] > 0 then server.call('HINCRBY', key, dimension, digits(report.amounts[i])) end
  end
  server.call('ZADD', b.key .. ':by_exec:index', 0, report.execution)
end

local function apply(b, report)
  local any = false
  for i, dimension in ipairs(report.dimensions) do
    if report.amounts[i] > 0 then
      any = true
      server.call('HINCRBY', b.key .. ':usage', dimension, digits(report.amounts[i]))
    end
  end
  if any and report.execution then add_to_ledger(b, report) end
  server.call('HSET', b.key, 'last_updated_at', digits(b.now))
end

local function count_breach(b, dimension)
  server.call('HINCRBY', b.key, 'breach_count', 1)
  server.call('HSET', b.key, 'last_breach_at', digits(b.now), 'last_breach_dim', dimension,
    'last_updated_at', digits(b.now))
end

-- The outcome of a report (dimensions, amounts, and maybe execution), which is applied as a whole or not at
-- all: word, is_applied, is_hard, is_soft, and of a breach dimension, usage, limit. `refuses` says whether a
-- hard limit refuses it. Or nil and the name of what cannot be counted. Writes nothing.
function budgets.judge(b, report, refuses)
  if #report.dimensions == 0 then return {word = 'applied', is_applied = true} end
  local used, limits = usage_of(b, report.dimensions), limits_of(b, report.dimensions)
  local hard, hard_limit = first_beyond(report, used, limits, 1)
  if hard and refuses then
    return {
      word = 'hard_breach', is_applied = false, is_hard = true, dimension = report.dimensions[hard],
      usage = digits(used[hard]), limit = digits(hard_limit),
    }
  end
  local problem = uncountable(b, report, used)
  if problem then return nil, problem end
  local soft, soft_limit
  if b.f.on_soft_limit ~= 'ignore' then soft, soft_limit = first_beyond(report, used, limits, 0) end
  local at = hard or soft
  if not at then return {word = 'applied', is_applied = true} end
  return {
    word = hard and 'hard_breach' or 'soft_breach', is_applied = true, is_hard = hard ~= nil,
    is_soft = soft ~= nil, dimension = report.dimensions[at],
    usage = digits(used[at] + report.amounts[at]), limit = digits(hard and hard_limit or soft_limit),
  }
end

-- Writes a report with the outcome of budgets.judge; before that, the reset if one is due.
function budgets.spend(b, report, outcome)
  budgets.reset_if_due(b)
  if outcome.is_hard then count_breach(b, outcome.dimension) end
  if outcome.is_applied and #report.dimensions > 0 then apply(b, report) end
  if outcome.is_soft then server.call('HINCRBY', b.key, 'soft_breach_count', 1) end
end

-- ---- Ledgers --------------------------------------------------------------------------------------

function budgets.forget_spending(b, execution_id)
  server.call('UNLINK', ledger_key(b, execution_id))
  server.call('ZREM', b.key .. ':by_exec:index', execution_id)
end

-- Takes back what an execution spent since the last reset. Tells it: dimension, amount, …
function budgets.take_back(b, execution_id)
  local stored, released = server.call('HGETALL', ledger_key(b, execution_id)), {}
  local of_this_period = false
  for i = 1, #stored, 2 do
    if stored[i] == period_field then
      of_this_period = stored[i + 1] == (b.f.period or '0')
    else
      released[#released + 1] = stored[i]
      released[#released + 1] = stored[i + 1]
    end
  end
  if #stored > 0 then budgets.forget_spending(b, execution_id) end
  if not of_this_period or #released == 0 then return {} end
  for i = 1, #released, 2 do
    local used = tonumber(server.call('HGET', b.key .. ':usage', released[i])) or 0
    local left = math.max(used - tonumber(released[i + 1]), 0)
    if left > 0 then
      server.call('HSET', b.key .. ':usage', released[i], digits(left))
    else
      server.call('HDEL', b.key .. ':usage', released[i])
    end
  end
  server.call('HSET', b.key, 'last_updated_at', digits(b.now))
  b.has_room = true
  return released
end

-- Removes at most `most` ledgers that a reset or the end of their budget left behind. Tells whether there
-- are more.
function budgets.tidy(tag, most)
  local all = keys.index(tag, 'stale_ledgers')
  local stale = server.call('SRANDMEMBER', all)
  if not stale then return false end
  local budget_key = string.match(stale, '^(.*):by_exec:index:%d+$')
  local period = server.call('HGET', budget_key, 'period')
  for i, execution_id in ipairs(server.call('ZPOPMIN', stale, most)) do
    if i % 2 == 1 then
      local key = budget_key .. ':by_exec:' .. execution_id
      if server.call('HGET', key, period_field) ~= period then server.call('UNLINK', key) end
    end
  end
  if server.call('EXISTS', stale) == 0 then server.call('SREM', all, stale) end
  return server.call('SCARD', all) > 0
end

return budgets
