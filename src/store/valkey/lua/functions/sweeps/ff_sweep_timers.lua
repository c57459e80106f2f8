-- Timers that are due until a time, in many partitions at once.
--   keys   none
--   args   until, timers_max (of each partition and kind), then tags
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

    return sweeping.each(ARGV, 3, function(tag, found)
      for _, kind in ipairs(kinds) do
        local due = server.call('ZRANGEBYSCORE', keys.index(tag, kind[2]), '-inf', due_until,
          'WITHSCORES', 'LIMIT', 0, timers_max)
        for j = 1, #due, 2 do
          found[#found + 1] = kind[1]
          found[#found + 1] = due[j]
          found[#found + 1] = due[j + 1]
        end
      end
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
