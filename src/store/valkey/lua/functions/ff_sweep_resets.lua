-- When budgets are to be reset, in many partitions at once. No KEYS. ARGV: 1 how many of each partition
-- at most, 2… tags. Replies as lib/sweeping.lua, the first ones of each partition: id, due.
server.register_function{
  function_name = 'ff_sweep_resets',
  callback = function(_, ARGV)
    return sweeping.each(ARGV, 2, function(tag, found)
      local entries = call('ZRANGE', keys.index(tag, 'budget_resets'), 0, ARGV[1] - 1, 'WITHSCORES')
      for _, text in ipairs(entries) do found[#found + 1] = text end
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
