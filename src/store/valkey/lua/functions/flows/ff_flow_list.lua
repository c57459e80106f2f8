-- Flows of a namespace, newest first, in many partitions at once.
--   keys   none
--   args   namespace, newest created_at (inclusive; empty: all), records_max (of each partition), then tags
--   reply  as ff_list
server.register_function{
  function_name = 'ff_flow_list',
  callback = function(_, ARGV)
    local namespace, newest, records_max = ARGV[1], ARGV[2], tonumber(ARGV[3])
    if newest == '' then newest = '+inf' end

    return sweeping.each(ARGV, 4, function(tag, found)
      local ids = server.call('ZREVRANGEBYSCORE', keys.flows(tag, namespace), newest, '-inf', 'WITHSCORES',
        'LIMIT', 0, records_max + 1)
      local records = {}
      for i = 1, math.min(#ids / 2, records_max) do
        local record = struct.pack('>I8', tonumber(ids[2 * i])) .. created.raw_of(tag, tag .. ':' .. ids[2 * i - 1])
        table.insert(records, 1, record)
      end
      if #records == 0 then return end
      found[#found + 1] = tag
      found[#found + 1] = table.concat(records)
      found[#found + 1] = #ids / 2 > records_max and '1' or '0'
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
