-- What comes due until a time, in many partitions at once. No KEYS: it looks at the partitions of its
-- own node that ARGV names: 1 until, 2 how many of each partition and kind at most, 3… tags. Replies as
-- lib/sweeping.lua, for each: kind, id, due.
local kinds = {
  {'lease_expiry', 'lease_expiry'}, {'delay', 'delays'}, {'attempt_timeout', 'attempt_timeout'},
  {'execution_deadline', 'execution_deadline'}, {'grant_expiry', 'grants'},
}

server.register_function{
  function_name = 'ff_sweep_timers',
  callback = function(_, ARGV)
    return sweeping.each(ARGV, 3, function(tag, found)
      for _, kind in ipairs(kinds) do
        local due = call('ZRANGEBYSCORE', keys.index(tag, kind[2]), '-inf', ARGV[1], 'WITHSCORES',
          'LIMIT', 0, ARGV[2])
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
