-- Flows that have not ended, or that ended since the last look at them, in many partitions at once.
--   keys   none
--   args   most (in all, about), cursor (of SSCAN, in the first partition), the tag of that partition, then tags
--   reply  as lib/sweeping.lua: the tag of the first partition not looked at, or not to its end ('' if there is none),
--          and the cursor there; then the ids of flows
server.register_function{
  function_name = 'ff_sweep_flows',
  callback = function(_, ARGV)
    local most, first_cursor, first_tag = tonumber(ARGV[1]), ARGV[2], ARGV[3]

    local next_tag, next_cursor, count = '', '0', 0
    local found = sweeping.each(ARGV, 4, function(tag, ids)
      if next_tag ~= '' then return end
      if count >= most then
        next_tag = tag
        return
      end
      local cursor = tag == first_tag and first_cursor or '0'
      local page = server.call('SSCAN', keys.index(tag, 'flow_index'), cursor, 'COUNT', most)
      for _, id in ipairs(page[2]) do ids[#ids + 1] = id end
      count = count + #page[2]
      if page[1] ~= '0' then next_tag, next_cursor = tag, page[1] end
    end, function(tag) return {keys.index(tag, 'flow_index')} end)
    table.insert(found, 4, next_tag)
    table.insert(found, 5, next_cursor)
    return found
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
