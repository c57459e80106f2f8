-- How many budgets or quotas a namespace has, in many partitions at once. No KEYS. ARGV: 1 index
-- (budgets:NAMESPACE or quotas:NAMESPACE), 2… tags. Replies as lib/sweeping.lua: the count of each
-- partition.
server.register_function{
  function_name = 'ff_admission_count',
  callback = function(_, ARGV)
    return sweeping.each(ARGV, 2, function(tag, found)
      found[#found + 1] = tostring(call('ZCARD', keys.index(tag, ARGV[1])))
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
