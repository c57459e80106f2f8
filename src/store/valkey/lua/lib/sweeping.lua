-- Looking at many partitions in one call. While a slot moves to another node some of its keys are here
-- and some are there: such a partition is passed over, and the caller is told.
local sweeping = {}

local function is_moving(problem)
  local text = type(problem) == 'table' and problem.err or tostring(problem)
  return string.find(text, 'non local key', 1, true) ~= nil
end

-- How many seconds of processor time the call may take, if its last argument says so: `slice:` and milliseconds.
local function read_slice(ARGV)
  local milliseconds = string.match(ARGV[#ARGV] or '', '^slice:(%d+)$')
  return milliseconds and milliseconds / 1000
end

-- Calls visit(tag, found) for each tag in ARGV from `first` on; it appends to `found`. Replies OK, the
-- tags of the partitions that were passed over, and what was found. A call with a slice ends when that is used up, or
-- when visit returns true: the list of tags then ends with `rest:` and the number of tags that are left.
function sweeping.each(ARGV, first, visit)
  local moving = {}
  local found = reply.ok(moving)
  local slice, last = read_slice(ARGV), #ARGV
  if slice then last = last - 1 end
  local over = slice and os.clock() + slice
  for i = first, last do
    local before = #found
    local fine, result = pcall(visit, ARGV[i], found)
    if not fine then
      if not is_moving(result) then error(result) end
      for j = #found, before + 1, -1 do found[j] = nil end
      moving[#moving + 1] = ARGV[i]
    end
    if over and i < last and (fine and result or os.clock() >= over) then
      moving[#moving + 1] = 'rest:' .. last - i
      break
    end
  end
  return found
end

return sweeping
