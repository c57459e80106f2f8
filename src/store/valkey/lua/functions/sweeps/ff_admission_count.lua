-- How many budgets, quotas or schedules a namespace has, in many partitions at once.
--   keys   none
--   args   index (budgets:NAMESPACE, quotas:NAMESPACE or schedules:NAMESPACE), then tags
--   reply  as lib/sweeping.lua: the count of each partition
server.register_function{
  function_name = 'ff_admission_count',
  callback = function(_, ARGV)
    local index = ARGV[1]

    return sweeping.each(ARGV, 2, function(tag, found)
      found[#found + 1] = tostring(server.call('ZCARD', keys.index(tag, index)))
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
