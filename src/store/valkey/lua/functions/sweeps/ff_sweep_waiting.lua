-- The best of the executions that wait for a worker, in many partitions at once.
--   keys   none
--   args   entries_max (of each index to look at), each_max (executions of a queue with the same needs),
--          then tags; programs that group by kind as well put 'kinds' before the tags, those that know fairness
--          keys, too, 'shares'
--   reply  as lib/sweeping.lua, for each partition that has any: tag, a list of the values of waiting.look
--          for each index
server.register_function{
  function_name = 'ff_sweep_waiting',
  callback = function(_, ARGV)
    local entries_max, each_max = tonumber(ARGV[1]), tonumber(ARGV[2])

    local shares = ARGV[3] == 'shares'
    local by_kind = shares or ARGV[3] == 'kinds'
    local look = {after_id = '', entries = entries_max, each = each_max, shares = shares}
    if by_kind then look.kinds, look.any_kind = {}, true end
    return sweeping.each(ARGV, by_kind and 4 or 3, function(tag, found)
      local answer = {}
      sweeping.each_queue(totals.queues(tag), function(queue)
        waiting.look(answer, tag, queue, 'eligible', look)
        waiting.look(answer, tag, queue, 'reclaimable', look)
      end)
      if #answer > 0 then
        found[#found + 1] = tag
        found[#found + 1] = answer
      end
    end, totals.keys)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
