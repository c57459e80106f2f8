-- Which schedules come due first, in many partitions at once.
--   keys   none
--   args   schedules_max (of each partition), then tags
--   reply  as lib/sweeping.lua, the earliest of each partition: NAMESPACE/NAME, due
server.register_function{
  function_name = 'ff_sweep_schedules',
  callback = function(_, ARGV)
    local schedules_max = tonumber(ARGV[1])

    return sweeping.each(ARGV, 2, function(tag, found)
      local entries = server.call('ZRANGE', keys.index(tag, 'schedules_due'), 0, schedules_max - 1,
        'WITHSCORES')
      for _, text in ipairs(entries) do found[#found + 1] = text end
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
