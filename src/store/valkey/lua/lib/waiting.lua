-- Executions that wait for a worker, by what they need beside its turn. Each queue has a hash of counts,
-- needs → count; needs are required_capabilities, budget_ids and quota_policy_id, joined by byte 31, and for an execution
-- with a fairness key also its weight and key. An execution that needs nothing and has no key costs nothing here: those are the
-- rest of the index `eligible`.
local waiting = {}

-- A field of a complete hash. A queue has no hash until something in it needs anything, or if it is of a library
-- before 1.2: the first change counts it. One that is too long for that is taken for one of the first kind.
local counted = 'counted'
local counted_max = 1000  -- entries of a queue, in one call
local slice = 64  -- entries read at once

local function given(text)
  return text and text ~= '' and text or nil
end

-- `fairness` is weight, blank, key.
local function join(capabilities, budgets, quota, fairness)
  if not (capabilities or budgets or quota or fairness) then return nil end
  local needs = (capabilities or '') .. '\31' .. (budgets or '') .. '\31' .. (quota or '')
  return fairness and needs .. '\31' .. fairness or needs
end

-- Of an eligible execution; nil if it needs nothing or is set aside for a worker.
function waiting.needs(f)
  local capabilities, budgets, quota, fairness = f.required_capabilities, f.budget_ids, f.quota_policy_id, f.fairness
  if not (capabilities or budgets or quota or fairness) or f.grant_expires_at then return nil end
  return join(capabilities, budgets, quota, fairness)
end

function waiting.key(tag, queue)
  return keys.lane_index(tag, queue, 'waiting_by_needs')
end

-- Flat, needs and count; nil if they were never counted.
function waiting.counts(tag, queue)
  local flat, counts, complete = server.call('HGETALL', waiting.key(tag, queue)), {}, false
  for i = 1, #flat, 2 do
    if flat[i] == counted then
      complete = true
    else
      counts[#counts + 1] = flat[i]
      counts[#counts + 1] = flat[i + 1]
    end
  end
  return complete and counts or nil
end

local function count(tag, queue)
  local index, counts = keys.lane_index(tag, queue, 'eligible'), {}
  for first = 0, server.call('ZCARD', index) - 1, slice do
    for _, id in ipairs(server.call('ZRANGE', index, first, first + slice - 1)) do
      local f = server.call('HMGET', keys.of_execution(tag, id, 'core'), 'required_capabilities',
        'budget_ids', 'quota_policy_id', 'grant_expires_at', 'eligibility_state', 'fairness')
      local needs = f[5] == 'eligible_now' and not given(f[4])
        and join(given(f[1]), given(f[2]), given(f[3]), given(f[6]))
      if needs then counts[needs] = (counts[needs] or 0) + 1 end
    end
  end
  return counts
end

function waiting.length(tag, queue)
  return server.call('ZCARD', keys.lane_index(tag, queue, 'eligible'))
end

local function note_complete(tag, queue)
  server.call('HSET', waiting.key(tag, queue), counted, 1)
end

-- Counts a queue anew, unless it is longer than `entries_max`. Returns how many counts were wrong.
function waiting.recount(tag, queue, entries_max)
  local before = waiting.counts(tag, queue)
  local complete = before ~= nil
  if waiting.length(tag, queue) > entries_max then
    if not complete then note_complete(tag, queue) end
    return 0
  end
  local key, counts, wrong = waiting.key(tag, queue), count(tag, queue), 0
  if not complete then
    server.call('DEL', key)
    before = {}
  end
  for i = 1, #before, 2 do
    local needs = before[i]
    if not counts[needs] then
      server.call('HDEL', key, needs)
      wrong = wrong + 1
    elseif tonumber(before[i + 1]) == counts[needs] then
      counts[needs] = nil
    end
  end
  for needs, number in pairs(counts) do
    server.call('HSET', key, needs, number)
    wrong = wrong + 1
  end
  if not complete then note_complete(tag, queue) end
  return wrong
end

-- True if that made the hash, with everything in it.
local function add(tag, queue, needs, by)
  local key = waiting.key(tag, queue)
  local number = server.call('HINCRBY', key, needs, by)
  -- Only a count that was not there can tell that the hash was not.
  if number == by and server.call('HEXISTS', key, counted) == 0 then
    if waiting.length(tag, queue) <= counted_max then
      waiting.recount(tag, queue, counted_max)
      return true
    end
    note_complete(tag, queue)
  end
  if number <= 0 then server.call('HDEL', key, needs) end
end

-- `before` and `after` are what waiting.needs said then and says now. To be called when the execution and
-- its index entries are written: a recount must find them so.
function waiting.move(tag, queue, before, after)
  if before and add(tag, queue, before, -1) then return end
  if after then add(tag, queue, after, 1) end
end

-- ---- Looking at an index -----------------------------------------------------------------------

-- The rank behind the entry (id, score). If that is gone, the first with the same score: better twice than
-- never.
local function rank_after(index, id, score)
  if id == '' then return 0 end
  if tonumber(server.call('ZSCORE', index, id) or 'nan') == tonumber(score) then
    return server.call('ZRANK', index, id) + 1
  end
  return server.call('ZCOUNT', index, '-inf', '(' .. score)
end

-- How many executions a look can want: no more with the same needs than there are. Without counts no limit.
local function wanted(entries, counts, most)
  if not counts then return math.huge end
  local sum, plain = 0, entries
  for i = 2, #counts, 2 do
    local number = tonumber(counts[i])
    sum, plain = sum + math.min(number, most), plain - number
  end
  return sum + math.min(math.max(plain, 0), most)
end

local function count_in(counts, group)
  counts[group] = (counts[group] or 0) + 1
  return counts[group]
end

-- Adds an execution to `found`, unless that has look.each of its group. Returns how many it added of those
-- that the look is for.
local function add_found(found, counts, tag, id, look)
  local f = server.call('HMGET', keys.of_execution(tag, id, 'core'), 'namespace', 'lane_id', 'priority',
    'created_at', 'queued_at', 'required_capabilities', 'budget_ids', 'quota_policy_id',
    'grant_expires_at', 'execution_kind', 'fairness')
  if not f[1] or given(f[9]) then return 0 end  -- a grant's timer offers it again
  local needs = f[1] .. '\31' .. (join(given(f[6]), given(f[7]), given(f[8]), given(f[11])) or '')
  local kind = look.kinds and (f[10] or '')
  local group = kind and needs .. '\31' .. kind or needs
  local number = count_in(counts.of_groups, group)
  if number > look.each then return 0 end
  local n = #found
  found[n + 1], found[n + 2], found[n + 3], found[n + 4] = id, f[1], f[2], f[3] or '0'
  found[n + 5], found[n + 6] = given(f[5]) or f[4], f[6] or ''
  found[n + 7], found[n + 8], found[n + 9] = f[7] or '', f[8] or '', kind or nil
  if look.shares then found[n + 10] = f[11] or '' end
  if not kind then return 1 end
  if not (look.any_kind or look.kinds[kind]) then return 0 end
  return count_in(counts.of_needs, needs) <= look.each and 1 or 0
end

-- The set of kinds, joined by byte 31.
function waiting.kinds_in(joined)
  local kinds = {}
  for kind in string.gmatch(joined, '[^\31]+') do kinds[kind] = true end
  return kinds
end

-- Looks at an index of a queue, `eligible` or `reclaimable`. `look` has after_id and after_score ('': from
-- the start), entries (how many to look at) and each (how many to find of a group: with the same namespace
-- and needs). Appends to `answer`: queue, index, id and score of the last entry that it looked at ('' if
-- that was the last of all), how many entries the index has, whether counts are known (1 or 0), counts, and
-- of each execution found: id, namespace, lane, priority, queued_at, required_capabilities, budget_ids,
-- quota_policy_id. Appends nothing if the index is empty.
--
-- With look.kinds, a set (and look.any_kind, if that is all), a group has one kind, and each execution found
-- has its kind as one more value, and with look.shares its weight and fairness key as another. The look then ends early when
-- it has found enough of those kinds.
function waiting.look(answer, tag, queue, name, look)
  local index = keys.lane_index(tag, queue, name)
  local entries = server.call('ZCARD', index)
  if entries == 0 then return end
  local counts = name == 'eligible' and waiting.counts(tag, queue) or nil
  local missing = wanted(entries, counts, look.each)
  local rank = rank_after(index, look.after_id, look.after_score)
  local stop, last, found = math.min(rank + look.entries, entries), nil, {}
  local found_counts = {of_groups = {}, of_needs = {}}
  while rank < stop and missing > 0 do
    for _, id in ipairs(server.call('ZRANGE', index, rank, math.min(rank + slice, stop) - 1)) do
      missing = missing - add_found(found, found_counts, tag, id, look)
      rank, last = rank + 1, id
      if missing <= 0 then break end
    end
  end
  if rank >= entries then last = nil end
  local n = #answer
  answer[n + 1], answer[n + 2], answer[n + 3] = queue, name, last or ''
  answer[n + 4], answer[n + 5] = last and server.call('ZSCORE', index, last) or '', tostring(entries)
  answer[n + 6], answer[n + 7], answer[n + 8] = counts and '1' or '0', counts or {}, found
end

-- ---- The oldest, whatever their priority ---------------------------------------------------------

local priority_step = 1000000000000  -- of a score; see placement.ready_score
local margin = 3600000  -- of clocks

-- The oldest executions of each priority, the lowest ones first: `each` of them, of `levels` priorities. Appends the same values
-- as waiting.look. Scores of one priority lie within priority_step of each other, so each is found by a few steps.
function waiting.oldest(answer, tag, queue, now, levels, each)
  local index, found = keys.lane_index(tag, queue, 'eligible'), {}
  local look = {each = each, kinds = {}, any_kind = true, shares = true}
  local last = server.call('ZRANGE', index, -1, -1)[1]
  while last and levels > 0 do
    local priority = tonumber(server.call('HGET', keys.of_execution(tag, last, 'core'), 'priority') or 0) or 0
    local before = string.format('%.0f', now + margin - (priority + 1) * priority_step)
    local oldest = server.call('ZRANGEBYSCORE', index, '(' .. before, '+inf', 'LIMIT', 0, each)
    local counts = {of_groups = {}, of_needs = {}}
    for _, id in ipairs(oldest) do add_found(found, counts, tag, id, look) end
    last, levels = server.call('ZREVRANGEBYSCORE', index, before, '-inf', 'LIMIT', 0, 1)[1], levels - 1
  end
  local n = #answer
  answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = queue, 'eligible', '', ''
  answer[n + 5], answer[n + 6], answer[n + 7], answer[n + 8] = tostring(server.call('ZCARD', index)), '0', {}, found
end

return waiting
