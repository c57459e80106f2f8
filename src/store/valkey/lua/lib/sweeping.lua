-- Looking at many partitions in one call. While a slot moves to another node some of its keys are here
-- and some are there: such a partition is passed over, and the caller is told.
local sweeping = {}

local function is_moving(problem)
  local text = type(problem) == 'table' and problem.err or tostring(problem)
  return string.find(text, 'non local key', 1, true) ~= nil
end

-- Calls visit(tag, found) for each tag in ARGV from `first` on; it appends to `found`. Replies OK, the
-- tags of the partitions that were passed over, and what was found.
function sweeping.each(ARGV, first, visit)
  local moving = {}
  local found = reply.ok(moving)
  for i = first, #ARGV do
    local before = #found
    local fine, problem = pcall(visit, ARGV[i], found)
    if not fine then
      if not is_moving(problem) then error(problem) end
      for j = #found, before + 1, -1 do found[j] = nil end
      moving[#moving + 1] = ARGV[i]
    end
  end
  return found
end

return sweeping
