-- Effects that are not settled, in many partitions at once. No KEYS. ARGV: 1 how many of each partition at
-- most, 2… tags. Replies as lib/sweeping.lua: of each partition that has any its tag and their texts.
server.register_function{
  function_name = 'ff_sweep_effects',
  callback = function(_, ARGV)
    local most = tonumber(ARGV[1])
    return sweeping.each(ARGV, 2, function(tag, found)
      local texts = call('SRANDMEMBER', keys.effects(tag), most)
      if #texts > 0 then
        found[#found + 1] = tag
        found[#found + 1] = texts
      end
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
