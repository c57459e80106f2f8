-- How many executions there are in each state, in many partitions at once.
--   keys   none
--   args   tags
--   reply  as lib/sweeping.lua, for each queue and state of each partition: queue, state, count; also with
--          `reclaimable` instead of a state: how many of the active ones no worker holds
local live = {
  waiting = 'eligible', delayed = 'delayed', waiting_children = 'blocked:dependencies',
  suspended = 'suspended',
}
local blocked = {
  ['blocked:budget'] = 'rate_limited', ['blocked:quota'] = 'rate_limited',
  ['blocked:route'] = 'waiting', ['blocked:operator'] = 'waiting',
}

local function count_partition(tag, counts)
  local function add(queue, state, count)
    if count == 0 then return end
    counts[#counts + 1] = queue
    counts[#counts + 1] = state
    counts[#counts + 1] = tostring(count)
  end
  -- Those that are in no other index are active: the index `active` has not all of them.
  local function add_live(queue, all, ended)
    local others = ended
    local function add_those_in(index, state)
      local count = server.call('ZCARD', keys.lane_index(tag, queue, index))
      others = others + count
      add(queue, state, count)
    end
    for state, index in pairs(live) do add_those_in(index, state) end
    for index, state in pairs(blocked) do add_those_in(index, state) end
    add(queue, 'active', math.max(all - others, 0))
    add(queue, 'reclaimable', server.call('ZCARD', keys.lane_index(tag, queue, 'reclaimable')))
  end
  local queues, ended, fields = {}, {}, server.call('HGETALL', keys.index(tag, 'totals'))
  for i = 1, #fields, 2 do
    local queue, what = string.match(fields[i], '^(.*)\31(.*)$')
    if not ended[queue] then
      queues[#queues + 1], ended[queue] = queue, {}
    end
    ended[queue][what] = tonumber(fields[i + 1])
  end
  sweeping.each_queue(queues, function(queue)
    local completed = 0
    for what, count in pairs(ended[queue]) do
      if what == 'all' then
        local terminal = server.call('ZCARD', keys.lane_index(tag, queue, 'terminal'))
        completed = completed + terminal
        add_live(queue, count, terminal)
      else
        completed = completed - count
        add(queue, what, count)
      end
    end
    add(queue, 'completed', completed)
  end)
end

server.register_function{
  function_name = 'ff_count',
  callback = function(_, ARGV) return sweeping.each(ARGV, 1, count_partition, totals.keys) end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
