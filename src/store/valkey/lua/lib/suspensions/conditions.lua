-- Conditions: which signals resume a suspended execution. The same as core/suspensions/condition.cpp, and one
-- kind more for the plain conditions of the contract.
--   condition := {"signal": name, "waitpoint": key}        either may be absent: any
--              | {"all": [condition…]} | {"any": [condition…]}
--              | {"count": n, "of": "signals", "sources" or "waitpoints", "signal": name,
--                 "waitpoints": [key…]}                     without waitpoints: sent in whichever way
--              | {"operator": true} | {"timeout": true}
--              | {"slots": [name…], "needed": n}            a signal takes the first free slot of its name or of ''
-- "plain" beside any of them: it is a plain condition of the contract.
--
-- A tally has a list of what has counted for each part that takes signals, in reading order. The list of slots
-- has '' for a free one.
local conditions = {}

-- Whether a condition took a signal; of several parts, the best answer.
local not_asked, other_name, repeated, counted = 0, 1, 2, 3

local effect_of = {
  [not_asked] = 'signal_ignored_not_in_condition',
  [other_name] = 'signal_ignored_matcher_failed',
  [repeated] = 'appended_to_waitpoint_duplicate',
}

local function includes(list, value)
  for i = 1, #list do
    if list[i] == value then return true end
  end
  return false
end

local function add(seen, what, enough)
  if #seen >= enough or includes(seen, what) then return repeated end
  seen[#seen + 1] = what
  return counted
end

local function accepts_name(part, signal)
  return part.signal == nil or part.signal == signal.name
end

-- The part of a signal that a count counts; nil: the signal has no such part.
local function counted_of(part, signal)
  if part.of == 'sources' then
    -- Different for different sources: a colon that belongs to the type has a backslash before it.
    return string.gsub(signal.source_type, '[\\:]', '\\%0') .. ':' .. signal.source_identity
  end
  if part.of == 'waitpoints' then return signal.waitpoint_key end
  return signal.id
end

local function count_one(part, seen, signal)
  if part.waitpoint and part.waitpoint ~= signal.waitpoint_key then return not_asked end
  if not accepts_name(part, signal) then return other_name end
  return add(seen, signal.id, 1)
end

local function count_many(part, seen, signal)
  local keys_asked = part.waitpoints or {}
  local asked = #keys_asked == 0 or includes(keys_asked, signal.waitpoint_key)
  local what = counted_of(part, signal)
  if not asked or not what then return not_asked end
  if not accepts_name(part, signal) then return other_name end
  return add(seen, what, part.count)
end

local function count_in_slots(part, seen, signal)
  for i, name in ipairs(part.slots) do
    seen[i] = seen[i] or ''
    if seen[i] == '' and (name == '' or name == signal.name) then
      for j = i + 1, #part.slots do seen[j] = seen[j] or '' end
      seen[i] = signal.id
      return counted
    end
  end
  return other_name
end

-- Numbers the parts that take signals. Every part is visited, whatever the others say.
local function part_counter(tally)
  local index = 0
  return function()
    index = index + 1
    tally[index] = tally[index] or {}
    return tally[index]
  end
end

local function count_part(part, next_seen, signal)
  if part.all or part.any then
    local best = not_asked
    for _, each in ipairs(part.all or part.any) do
      best = math.max(best, count_part(each, next_seen, signal))
    end
    return best
  end
  if part.operator or part.timeout then return not_asked end
  local seen = next_seen()
  if part.slots then return count_in_slots(part, seen, signal) end
  if part.count then return count_many(part, seen, signal) end
  return count_one(part, seen, signal)
end

local function filled(seen)
  local number = 0
  for _, what in ipairs(seen) do
    if what ~= '' then number = number + 1 end
  end
  return number
end

local function is_part_satisfied(part, next_seen)
  if part.all then
    local every = true
    for _, each in ipairs(part.all) do every = is_part_satisfied(each, next_seen) and every end
    return every
  elseif part.any then
    local some = false
    for _, each in ipairs(part.any) do some = is_part_satisfied(each, next_seen) or some end
    return some
  elseif part.operator or part.timeout then
    return false
  end
  local seen = next_seen()
  if part.slots then return filled(seen) >= part.needed end
  return #seen >= (part.count or 1)
end

-- Counts a signal (id, name, source_type, source_identity; waitpoint_key if it was sent to a waitpoint).
-- Returns nil if it counted, otherwise its effect.
function conditions.count_signal(condition, tally, signal)
  local match = count_part(condition, part_counter(tally), signal)
  if match == counted then return nil end
  return condition.plain and 'no_op' or effect_of[match]
end

function conditions.is_satisfied(condition, tally)
  return is_part_satisfied(condition, part_counter(tally))
end

-- The most signals that one part asks for.
function conditions.signals_needed(part)
  local needed = part.count or part.needed or 0
  for _, each in ipairs(part.all or part.any or {}) do
    needed = math.max(needed, conditions.signals_needed(each))
  end
  return needed
end

local function add_sizes(sizes, part, next_seen)
  if part.operator or part.timeout then return end
  if part.all or part.any then
    for _, each in ipairs(part.all or part.any) do add_sizes(sizes, each, next_seen) end
    return
  end
  local seen = next_seen()
  if not part.slots then
    sizes[#sizes + 1] = tostring(#seen)
    return
  end
  for i in ipairs(part.slots) do sizes[#sizes + 1] = (seen[i] or '') == '' and '0' or '1' end
end

-- How many have counted for each part, in reading order; of slots, 1 or 0 for each.
function conditions.sizes(condition, tally)
  local sizes = {}
  add_sizes(sizes, condition, part_counter(tally))
  return sizes
end

-- ---- The contract's conditions -------------------------------------------------------------------

local names_max, depth_max, nodes_max, count_max = 1000, 4, 256, 1000
local without_signals = {__operator_only__ = 'operator', __timeout_only__ = 'timeout'}

local function refuse(why)
  return nil, reply.refuse('invalid_input', 'resume_condition_json: ' .. why)
end

local function names_in(list)
  local names = {}
  for i, name in ipairs(list) do
    if type(name) ~= 'string' then return nil end
    names[i] = name
  end
  return names
end

local function from_plain(decoded, has_timeout)
  local list = decoded.required_signal_names
  if list ~= nil and type(list) ~= 'table' then return refuse('required_signal_names must be a list') end
  local names = names_in(list or {})
  if not names then return refuse('required_signal_names must be texts') end
  if #names > names_max then return refuse('at most ' .. names_max .. ' required_signal_names') end
  local mode = decoded.signal_match_mode or 'any'
  local minimum = decoded.minimum_signal_count
  if minimum == nil then minimum = 1 end
  minimum = tonumber(minimum)
  if not minimum or minimum ~= minimum then return refuse('minimum_signal_count must be a number') end
  local alone = #names == 1 and without_signals[names[1]]
  if alone then
    if alone == 'timeout' and not has_timeout then return refuse('timeout_only_without_deadline') end
    return {[alone] = true, plain = true}
  end
  if #names == 0 then names = {''} end
  local needed = mode == 'all' and #names or minimum
  if needed > #names then
    return refuse(string.format('minimum_signal_count is %g, and only %d signals can count', minimum, #names))
  end
  return {slots = names, needed = needed, plain = true}
end

local count_kinds = {
  DistinctSignals = 'signals', DistinctSources = 'sources', DistinctWaitpoints = 'waitpoints',
}

local function signal_of(matcher)
  if matcher == nil or matcher == cjson.null then return true end
  if type(matcher) ~= 'table' then return false end
  if matcher.kind == 'Wildcard' then return true end
  if matcher.kind ~= 'ByName' or type(matcher.name) ~= 'string' then return false end
  return true, matcher.name
end

local function path_name(path)
  return path == '' and '<root>' or path
end

local translate = {}

function translate.Single(node, path, bound)
  local fine, name = signal_of(node.matcher)
  if not fine then return refuse('unknown matcher at path ' .. path_name(path)) end
  if name == '' then return refuse('empty signal name (use Wildcard instead)') end
  if not bound[node.waitpoint_key] then
    return refuse('referenced_waitpoint_key_missing_binding: ' .. tostring(node.waitpoint_key))
  end
  return {signal = name, waitpoint = node.waitpoint_key}
end

function translate.Count(node, path, bound, state)
  local fine, name = signal_of(node.matcher)
  if not fine then return refuse('unknown matcher at path ' .. path_name(path)) end
  local n, of = tonumber(node.n), count_kinds[node.count_kind or 'DistinctWaitpoints']
  if not n or n ~= math.floor(n) or n > count_max then
    return refuse('n must be a whole number at path ' .. path_name(path))
  end
  if n < 1 then return refuse('count_n_zero at path ' .. path_name(path)) end
  state.counted = (state.counted or 0) + n  -- each signal is compared with everything that has counted
  if state.counted > count_max then return refuse('all n together are at most ' .. count_max) end
  if not of then return refuse('unknown count_kind at path ' .. path_name(path)) end
  local named, distinct = {}, 0
  for _, key in ipairs(type(node.waitpoints) == 'table' and node.waitpoints or {}) do
    if not bound[key] then
      return refuse('referenced_waitpoint_key_missing_binding: ' .. tostring(key))
    end
    if not includes(named, key) then distinct = distinct + 1 end
    named[#named + 1] = key
  end
  if #named == 0 then return refuse('count_waitpoints_empty at path ' .. path_name(path)) end
  if of == 'waitpoints' and n > distinct then
    return refuse(string.format('count_exceeds_waitpoint_set: n=%d > waitpoints.len()=%d at path %s', n,
      distinct, path_name(path)))
  end
  return {count = n, of = of, signal = name, waitpoints = named}
end

local function translate_node(node, path, depth, state)
  if type(node) ~= 'table' then return refuse('no node at path ' .. path_name(path)) end
  if depth > depth_max then
    return refuse(string.format('depth %d exceeds cap %d at path %s', depth, depth_max, path_name(path)))
  end
  state.nodes = state.nodes + 1
  if state.nodes > nodes_max then return refuse('at most ' .. nodes_max .. ' nodes') end
  if node.kind == 'NeverBySignal' then
    if depth > 1 then return refuse('can never be satisfied at path ' .. path_name(path)) end
    return {operator = true}
  end
  if translate[node.kind] then return translate[node.kind](node, path, state.bound, state) end
  if node.kind ~= 'AllOf' then return refuse('unknown kind at path ' .. path_name(path)) end
  local members = type(node.members) == 'table' and node.members or {}
  if #members == 0 then return refuse('allof_empty_members at path ' .. path_name(path)) end
  local all = {}
  for i, member in ipairs(members) do
    local inner = (path == '' and '' or path .. '.') .. string.format('members[%d]', i - 1)
    local part, refused = translate_node(member, inner, depth + 1, state)
    if not part then return nil, refused end
    all[i] = part
  end
  return {all = all}
end

-- A resume condition of the contract as one of ours, or nil and the refusal; then what was decoded.
-- `waitpoint_keys` is a list of those that the suspension binds.
function conditions.from_contract(text, waitpoint_keys, has_timeout)
  local decoded = policy.decode(text or '')
  if not decoded then return refuse('must be a JSON object') end
  local composite = decoded.composite
  if composite == nil or composite == false then
    local plain, refused = from_plain(decoded, has_timeout)
    return plain, refused, decoded
  end
  if decoded.v ~= nil and tonumber(decoded.v) ~= 1 then return refuse('unknown version of a composite') end
  local state = {nodes = 0, bound = {}}
  for _, key in ipairs(waitpoint_keys) do state.bound[key] = true end
  local tree = decoded.tree
  if tree == nil and type(composite) == 'table' then tree = composite end
  local condition, refused = translate_node(tree, '', 1, state)
  return condition, refused, decoded
end

-- Fields of the contract's condition hash that tell how far a condition is. `decoded` is as given.
function conditions.describe(condition, decoded, tally)
  if not condition.plain then
    return {'condition_type', 'composite', 'composite', '1', 'match_mode', 'composite',
      'minimum_signal_count', '1', 'total_matchers', '0', 'satisfied_count', '0', 'tree_json',
      cjson.encode(decoded.tree or decoded.composite)}
  end
  local names, seen = condition.slots, tally[1] or {}
  if not names then names = {condition.operator and '__operator_only__' or '__timeout_only__'} end
  local fields = {'condition_type', tostring(decoded.condition_type or 'signal_set'),
    'match_mode', tostring(decoded.signal_match_mode or 'any'),
    'minimum_signal_count', tostring(decoded.minimum_signal_count or 1),
    'total_matchers', tostring(#names), 'satisfied_count', tostring(filled(seen))}
  for i, name in ipairs(names) do
    local id, prefix, n = seen[i] or '', 'matcher:' .. (i - 1), #fields
    fields[n + 1], fields[n + 2] = prefix .. ':name', name
    fields[n + 3], fields[n + 4] = prefix .. ':satisfied', id == '' and '0' or '1'
    fields[n + 5], fields[n + 6] = prefix .. ':signal_id', id
  end
  return fields
end

-- The fields that change when a signal has counted for a plain condition.
function conditions.progress(condition, tally, signal_id)
  local seen = tally[1] or {}
  for i in ipairs(condition.slots or {}) do
    if seen[i] == signal_id then
      local prefix = 'matcher:' .. (i - 1)
      return {'satisfied_count', tostring(filled(seen)), prefix .. ':satisfied', '1',
        prefix .. ':signal_id', signal_id}
    end
  end
end

return conditions
