-- Effects that are not carried out yet (lib/effects.lua), in many partitions at once.
--   keys   none
--   args   effects_max (of each partition), then tags
--   reply  as lib/sweeping.lua, of each partition that has any: tag, their texts
server.register_function{
  function_name = 'ff_sweep_effects',
  callback = function(_, ARGV)
    local effects_max = tonumber(ARGV[1])

    return sweeping.each(ARGV, 2, function(tag, found)
      local texts = server.call('SRANDMEMBER', keys.effects(tag), effects_max)
      if #texts > 0 then
        found[#found + 1] = tag
        found[#found + 1] = texts
      end
    end, function(tag) return {keys.effects(tag)} end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
