-- Executions of a namespace, the newest first, in many partitions at once. No KEYS. ARGV: 1 namespace,
-- 2 newest created_at (inclusive, empty: all), 3 how many of each partition at most, 4… tags. Replies as
-- lib/sweeping.lua, for each partition with any: tag, records as lib/created.lua has them, whether there
-- are older ones.
server.register_function{
  function_name = 'ff_list',
  callback = function(_, ARGV)
    local newest, most = tonumber(ARGV[2]), tonumber(ARGV[3])
    return sweeping.each(ARGV, 4, function(tag, found)
      local key = keys.created(tag, ARGV[1])
      local last = call('STRLEN', key) / created.record_bytes
      if newest then last = created.count_until(key, last, newest) end
      if last == 0 then return end
      local first = math.max(last - most, 0)
      found[#found + 1] = tag
      found[#found + 1] = call('GETRANGE', key, first * created.record_bytes,
        last * created.record_bytes - 1)
      found[#found + 1] = first > 0 and '1' or '0'
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
