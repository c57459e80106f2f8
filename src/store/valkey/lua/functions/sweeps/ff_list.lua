-- Executions of a namespace, newest first, in many partitions at once.
--   keys   none
--   args   namespace, newest created_at (inclusive; empty: all), records_max (of each partition), then tags
--   reply  as lib/sweeping.lua, for each partition that has any: tag, records (lib/created.lua), whether
--          there are older ones (1 or 0)
server.register_function{
  function_name = 'ff_list',
  callback = function(_, ARGV)
    local namespace, newest, records_max = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

    return sweeping.each(ARGV, 4, function(tag, found)
      local key = keys.created(tag, namespace)
      local last = server.call('STRLEN', key) / created.record_bytes
      if newest then last = created.count_until(key, last, newest) end
      if last == 0 then return end
      local first = math.max(last - records_max, 0)
      found[#found + 1] = tag
      found[#found + 1] = server.call('GETRANGE', key, first * created.record_bytes,
        last * created.record_bytes - 1)
      found[#found + 1] = first > 0 and '1' or '0'
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
