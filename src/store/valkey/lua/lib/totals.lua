-- How many executions a queue has in a partition: in all, and ended in each way but the usual one
-- (completed are the rest). A queue with any is known by its entry here: lanes need no registration.
local totals = {}

-- Returns how many there are then.
function totals.add(tag, queue, what, by)
  local key, field = keys.index(tag, 'totals'), queue .. '\31' .. what
  local count = server.call('HINCRBY', key, field, by)
  if count == 0 then server.call('HDEL', key, field) end
  return count
end

function totals.add_ended(tag, queue, state, by)
  if state ~= 'completed' then totals.add(tag, queue, state, by) end
end

-- For sweeping.each: a partition without it has no queue.
function totals.keys(tag)
  return {keys.index(tag, 'totals')}
end

function totals.queues(tag)
  local queues = {}
  for _, field in ipairs(server.call('HKEYS', keys.index(tag, 'totals'))) do
    queues[#queues + 1] = string.match(field, '^(.*)\31all$')
  end
  return queues
end

return totals
