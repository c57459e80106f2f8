-- How many executions are blocked, in many partitions at once.
--   keys   none
--   args   tags
--   reply  as lib/sweeping.lua, for each reason that occurs: reason, count
-- Every paused execution counts as paused by an operator.
local reasons = {
  'waiting_for_budget', 'waiting_for_quota', 'waiting_for_capable_worker', 'paused_by_operator',
}

server.register_function{
  function_name = 'ff_count_blocked',
  callback = function(_, ARGV)
    return sweeping.each(ARGV, 1, function(tag, found)
      sweeping.each_queue(totals.queues(tag), function(queue)
        for _, reason in ipairs(reasons) do
          local key = keys.lane_index(tag, queue, placement.blocked_index[reason])
          local count = server.call('ZCARD', key)
          if count > 0 then
            found[#found + 1] = reason
            found[#found + 1] = tostring(count)
          end
        end
      end)
    end, totals.keys)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
