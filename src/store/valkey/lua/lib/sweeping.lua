-- Looking at many partitions in one call. While a slot moves to another node some of its keys are here
-- and some are there: such a partition is passed over, and the caller is told.
local sweeping = {}

local function is_moving(problem)
  local text = type(problem) == 'table' and problem.err or tostring(problem)
  return string.find(text, 'non local key', 1, true) ~= nil
end

-- How many seconds of processor time the call may take, if its last argument says so: `slice:` and milliseconds. With a
-- colon and a text behind them the caller can go on inside a partition: behind that queue of the first one.
local function read_slice(ARGV)
  local milliseconds, colon, after = string.match(ARGV[#ARGV] or '', '^slice:(%d+)(:?)(.*)$')
  return milliseconds and milliseconds / 1000, colon == ':' and after or nil
end

-- Of the call under way: when its time is over, behind which queue it begins, and behind which one it stopped.
local over, after, stopped

-- Calls visit(queue) for each of a partition's queues, in visits of sweeping.each. It may stop between two of them.
function sweeping.each_queue(queues, visit)
  local last = #queues
  if after then table.sort(queues) end
  for i, queue in ipairs(queues) do
    if not after or queue > after then
      visit(queue)
      if after and i < last and os.clock() >= over then
        stopped = queue
        return
      end
    end
  end
end

-- Most partitions have nothing that a sweep looks for, so many of them are asked at once, by keys of which one exists if
-- there is anything. Nodes of a cluster take no command for keys of several slots.
local asked_together = 32
local is_one_server = true

local function may_have_any(ARGV, first, last, keys_of)
  if not is_one_server then return true end
  local names = {}
  for i = first, last do
    for _, key in ipairs(keys_of(ARGV[i])) do names[#names + 1] = key end
  end
  local fine, count = pcall(server.call, 'EXISTS', unpack(names))
  if not fine then is_one_server = false end
  return not fine or count > 0
end

-- Calls visit(tag, found) for each tag in ARGV from `first` on; it appends to `found`. Replies OK, the
-- tags of the partitions that were passed over, and what was found. A call with a slice ends when that is used up, or
-- when visit returns true: the list of tags then ends with `rest:` and the number of tags that are left. If it stopped
-- inside a partition, that one counts as left, and `queue:` and the queue behind which to go on follow. With keys_of(tag),
-- a list of keys, partitions without any of theirs may be left out.
function sweeping.each(ARGV, first, visit, keys_of)
  local moving = {}
  local found = reply.ok(moving)
  local slice, first_after = read_slice(ARGV)
  local last = slice and #ARGV - 1 or #ARGV
  over, after, stopped = slice and os.clock() + slice, first_after, nil
  local has_any = true
  for i = first, last do
    local before = #found
    if keys_of and (i - first) % asked_together == 0 then
      has_any = may_have_any(ARGV, i, math.min(i + asked_together - 1, last), keys_of)
    end
    local fine, result = true, nil
    if has_any then fine, result = pcall(visit, ARGV[i], found) end
    if not fine then
      if not is_moving(result) then error(result) end
      for j = #found, before + 1, -1 do found[j] = nil end
      moving[#moving + 1] = ARGV[i]
    end
    if stopped then
      moving[#moving + 1] = 'rest:' .. last - i + 1
      moving[#moving + 1] = 'queue:' .. stopped
      break
    end
    after = after and ''
    if over and i < last and (fine and result or os.clock() >= over) then
      moving[#moving + 1] = 'rest:' .. last - i
      break
    end
  end
  return found
end

return sweeping
