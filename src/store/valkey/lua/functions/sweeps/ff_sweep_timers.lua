-- Timers that are due until a time, in many partitions at once.
--   keys   none
--   args   until, timers_max (of each partition and kind), maybe `flows` (theirs, too), then tags
--   reply  as lib/sweeping.lua, for each timer: kind, id, due
local kinds = {
  {'lease_expiry', 'lease_expiry'}, {'delay', 'delays'}, {'attempt_timeout', 'attempt_timeout'},
  {'execution_deadline', 'execution_deadline'}, {'grant_expiry', 'grants'},
  {'suspension_timeout', 'suspension_timeout'}, {'waitpoint_expiry', 'waitpoint_expiry'},
}

server.register_function{
  function_name = 'ff_sweep_timers',
  callback = function(_, ARGV)
    local due_until, timers_max = ARGV[1], ARGV[2]

    local with_flows = ARGV[3] == 'flows'  -- older programs do not know them
    local function look(tag, found, kind, index)
      local due = server.call('ZRANGEBYSCORE', keys.index(tag, index), '-inf', due_until,
        'WITHSCORES', 'LIMIT', 0, timers_max)
      for j = 1, #due, 2 do
        found[#found + 1] = kind
        found[#found + 1] = due[j]
        found[#found + 1] = due[j + 1]
      end
    end
    return sweeping.each(ARGV, with_flows and 4 or 3, function(tag, found)
      for _, kind in ipairs(kinds) do look(tag, found, kind[1], kind[2]) end
      if with_flows then look(tag, found, 'flow_deadline', 'flow_deadline') end
    end, function(tag)
      local names = {keys.index(tag, 'flow_deadline')}
      for _, kind in ipairs(kinds) do names[#names + 1] = keys.index(tag, kind[2]) end
      return names
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
