-- When budgets are to be reset, in many partitions at once.
--   keys   none
--   args   resets_max (of each partition), then tags
--   reply  as lib/sweeping.lua, the earliest of each partition: id, due
server.register_function{
  function_name = 'ff_sweep_resets',
  callback = function(_, ARGV)
    local resets_max = tonumber(ARGV[1])

    return sweeping.each(ARGV, 2, function(tag, found)
      local entries = server.call('ZRANGE', keys.index(tag, 'budget_resets'), 0, resets_max - 1,
        'WITHSCORES')
      for _, text in ipairs(entries) do found[#found + 1] = text end
    end, function(tag) return {keys.index(tag, 'budget_resets')} end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
