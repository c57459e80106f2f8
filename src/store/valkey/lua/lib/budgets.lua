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
  local flat = call('HGETALL', key)
  if #flat == 0 then return nil end
  local fields = {}
  for i = 1, #flat, 2 do
    if flat[i + 1] ~= '' then fields[flat[i]] = flat[i + 1] end
  end
  return fields.created_at and object(key, now, fields) or nil
end

-- The same with no more than what budgets.exhausted and budgets.next_reset look at.
function budgets.glance(key, now)
  local f = call('HMGET', key, 'created_at', 'enforcement_mode', 'on_hard_limit', 'next_reset_at',
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

-- Work that it holds back may be able to start.
function budgets.tell_opening(b)
  call('SPUBLISH', keys.events(b.tag), table.concat({'budget', budgets.namespace(b), b.id}, '\31'))
end

-- Whether hard limits refuse and hold back, or are only told of. Words of other programs count as
-- strict.
local function holds(f)
  return f.enforcement_mode ~= 'advisory' and f.on_hard_limit ~= 'warn'
end
budgets.holds = holds

-- ---- Making and removing --------------------------------------------------------------------------

-- A number that no budget or period of this partition had before.
local function new_period(b)
  return call('INCR', index(b, 'periods'))
end

-- `fields` is the definition as it is given, `limits` a flat list of limits.
function budgets.create(key, now, fields, limits)
  local b = object(key, now, fields)
  local period = new_period(b)
  fields.budget_id, fields.created_at, fields.last_updated_at = b.id, digits(now), digits(now)
  fields.breach_count, fields.soft_breach_count = 0, 0
  fields.period, fields.made_in_period = period, period
  local interval = tonumber(fields.reset_interval_ms) or 0
  if interval > 0 then
    fields.next_reset_at = digits(now + interval)
    call('ZADD', index(b, 'budget_resets'), fields.next_reset_at, b.id)
  end
  local flat = {}
  for field, value in pairs(fields) do
    flat[#flat + 1] = field
    flat[#flat + 1] = value
  end
  call('HSET', key, unpack(flat))
  if #limits > 0 then call('HSET', key .. ':limits', unpack(limits)) end
  call('SADD', index(b, 'budget_policies'), b.id)
  call('ZADD', index(b, 'budgets:' .. budgets.namespace(b)), 0, b.id)
  budgets.tell_opening(b)
end

-- The ledgers are forgotten at once, and removed part by part (budgets.tidy).
local function empty_ledgers(b)
  local ledgers = b.key .. ':by_exec:index'
  if call('EXISTS', ledgers) == 0 then return end
  local stale = ledgers .. ':' .. tostring(new_period(b))
  call('RENAME', ledgers, stale)
  call('SADD', index(b, 'stale_ledgers'), stale)
end

function budgets.remove(b)
  empty_ledgers(b)
  call('UNLINK', b.key, b.key .. ':limits', b.key .. ':usage')
  call('ZREM', index(b, 'budget_resets'), b.id)
  call('SREM', index(b, 'budget_policies'), b.id)
  call('ZREM', index(b, 'budgets:' .. budgets.namespace(b)), b.id)
  budgets.tell_opening(b)
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
  if next_reset_at then call('ZADD', index(b, 'budget_resets'), next_reset_at, b.id) end
  f.reset_count = digits((f.reset_count or 0) + 1)
  f.last_reset_at, f.last_updated_at, f.next_reset_at = digits(b.now), digits(b.now), next_reset_at
  f.last_breach_at, f.last_breach_dim = nil, nil
  f.period = tostring(new_period(b))
  call('HSET', b.key, 'reset_count', f.reset_count, 'last_reset_at', f.last_reset_at,
    'last_updated_at', f.last_updated_at, 'period', f.period, 'last_breach_at', '',
    'last_breach_dim', '', 'next_reset_at', next_reset_at or '')
  call('UNLINK', b.key .. ':usage')
  empty_ledgers(b)
  budgets.tell_opening(b)
end

function budgets.reset_if_due(b)
  if budgets.is_due(b) then budgets.reset(b) end
end

-- ---- Checking -------------------------------------------------------------------------------------

-- Why work that spends from it may not start: dimension, usage, limit. nil: it may.
function budgets.exhausted(b)
  if not holds(b.f) or budgets.is_due(b) then return nil end
  local limits, dimensions, hard = call('HGETALL', b.key .. ':limits'), {}, {}
  for i = 1, #limits, 2 do
    local limit = tonumber(limits[i + 1]) or 0
    if limit > 0 and string.sub(limits[i], 1, 5) == 'hard:' then
      local dimension = string.sub(limits[i], 6)
      dimensions[#dimensions + 1], hard[dimension] = dimension, limit
    end
  end
  if #dimensions == 0 then return nil end
  local usage, first = call('HMGET', b.key .. ':usage', unpack(dimensions)), nil
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

-- What a report is compared with if its dedup key comes again.
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
  return call('HMGET', b.key .. ':limits', unpack(names))
end

-- The first place in the report that brings usage beyond a limit: `kind` is 1 (hard) or 0 (soft).
local function first_beyond(report, used, limits, kind)
  for i, amount in ipairs(report.amounts) do
    local limit = tonumber(limits[2 * i - kind]) or 0
    if limit > 0 and used[i] + amount > limit then return i, limit end
  end
end

-- The name of what cannot be counted, if anything.
local function uncountable(b, report, used)
  local added = 0
  for i, amount in ipairs(report.amounts) do
    if used[i] + amount > amount_max then return report.dimensions[i] end
    if used[i] == 0 and amount > 0 then added = added + 1 end
  end
  if added > 0 and call('HLEN', b.key .. ':usage') + added > usage_dimensions_max then
    return 'dimensions'
  end
end

local function add_to_ledger(b, report)
  local key = ledger_key(b, report.execution)
  local period = b.f.period or '0'
  if call('HGET', key, period_field) ~= period then
    call('DEL', key)
    call('HSET', key, period_field, period)
  end
  for i, dimension in ipairs(report.dimensions) do
    if report.amounts[i] > 0 then call('HINCRBY', key, dimension, digits(report.amounts[i])) end
  end
  call('ZADD', b.key .. ':by_exec:index', 0, report.execution)
end

local function apply(b, report)
  local any = false
  for i, dimension in ipairs(report.dimensions) do
    if report.amounts[i] > 0 then
      any = true
      call('HINCRBY', b.key .. ':usage', dimension, digits(report.amounts[i]))
    end
  end
  if any and report.execution then add_to_ledger(b, report) end
  call('HSET', b.key, 'last_updated_at', digits(b.now))
end

local function count_breach(b, dimension)
  call('HINCRBY', b.key, 'breach_count', 1)
  call('HSET', b.key, 'last_breach_at', digits(b.now), 'last_breach_dim', dimension,
    'last_updated_at', digits(b.now))
end

-- Adds all of a report (dimensions, amounts, and maybe execution) or nothing. `refuses` says whether a
-- hard limit refuses it. Tells the outcome: `word`, and of a breach dimension, usage, limit; or nil and
-- the name of what cannot be counted.
function budgets.spend(b, report, refuses)
  if #report.dimensions == 0 then return {word = 'applied', is_applied = true} end
  local used = call('HMGET', b.key .. ':usage', unpack(report.dimensions))
  for i = 1, #report.dimensions do used[i] = tonumber(used[i]) or 0 end
  local limits = limits_of(b, report.dimensions)
  local hard, hard_limit = first_beyond(report, used, limits, 1)
  local is_refused = hard ~= nil and refuses
  local problem = not is_refused and uncountable(b, report, used)
  if problem then return nil, problem end
  if hard then count_breach(b, report.dimensions[hard]) end
  if is_refused then
    return {
      word = 'hard_breach', dimension = report.dimensions[hard], usage = digits(used[hard]),
      limit = digits(hard_limit),
    }
  end
  local soft, soft_limit
  if b.f.on_soft_limit ~= 'ignore' then soft, soft_limit = first_beyond(report, used, limits, 0) end
  apply(b, report)
  if soft then call('HINCRBY', b.key, 'soft_breach_count', 1) end
  local at = hard or soft
  if not at then return {word = 'applied', is_applied = true} end
  return {
    word = hard and 'hard_breach' or 'soft_breach', is_applied = true,
    dimension = report.dimensions[at], usage = digits(used[at] + report.amounts[at]),
    limit = digits(hard and hard_limit or soft_limit),
  }
end

-- ---- Ledgers --------------------------------------------------------------------------------------

function budgets.forget_spending(b, execution_id)
  call('UNLINK', ledger_key(b, execution_id))
  call('ZREM', b.key .. ':by_exec:index', execution_id)
end

-- Takes back what an execution spent since the last reset. Tells it: dimension, amount, …
function budgets.take_back(b, execution_id)
  local stored, released = call('HGETALL', ledger_key(b, execution_id)), {}
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
    local used = tonumber(call('HGET', b.key .. ':usage', released[i])) or 0
    local left = math.max(used - tonumber(released[i + 1]), 0)
    if left > 0 then
      call('HSET', b.key .. ':usage', released[i], digits(left))
    else
      call('HDEL', b.key .. ':usage', released[i])
    end
  end
  call('HSET', b.key, 'last_updated_at', digits(b.now))
  budgets.tell_opening(b)
  return released
end

-- Removes at most `most` ledgers that a reset or the end of their budget left behind. Tells whether there
-- are more.
function budgets.tidy(tag, most)
  local all = keys.index(tag, 'stale_ledgers')
  local stale = call('SRANDMEMBER', all)
  if not stale then return false end
  local budget_key = string.match(stale, '^(.*):by_exec:index:%d+$')
  local period = call('HGET', budget_key, 'period')
  for i, execution_id in ipairs(call('ZPOPMIN', stale, most)) do
    if i % 2 == 1 then
      local key = budget_key .. ':by_exec:' .. execution_id
      if call('HGET', key, period_field) ~= period then call('UNLINK', key) end
    end
  end
  if call('EXISTS', stale) == 0 then call('SREM', all, stale) end
  return call('SCARD', all) > 0
end
