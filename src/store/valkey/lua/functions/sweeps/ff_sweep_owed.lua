-- Cancellations in flows that programs of the contract left to others, in many partitions at once.
--   keys   none
--   args   now, of (members or siblings), most (of each partition), then tags
--   reply  as lib/sweeping.lua, of each partition that has any: tag, how many, those that are due. Of members: flows,
--          due when their grace is over; of siblings: <flow>|<execution that started>
server.register_function{
  function_name = 'ff_sweep_owed',
  callback = function(_, ARGV)
    local now, of, most = ARGV[1], ARGV[2], tonumber(ARGV[3])

    return sweeping.each(ARGV, 4, function(tag, found)
      local groups, backlog = keys.index(tag, 'pending_cancel_groups'), keys.index(tag, 'cancel_backlog')
      local of_siblings = of == 'siblings'
      local count = of_siblings and server.call('SCARD', groups) or server.call('ZCARD', backlog)
      if count == 0 then return end
      found[#found + 1], found[#found + 2] = tag, tostring(count)
      found[#found + 1] = of_siblings and server.call('SRANDMEMBER', groups, most)
        or server.call('ZRANGEBYSCORE', backlog, '-inf', now, 'LIMIT', 0, most)
    end, function(tag)
      return {keys.index(tag, of == 'siblings' and 'pending_cancel_groups' or 'cancel_backlog')}
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
