-- How many executions wait for a worker and need more than its turn, in many partitions at once.
--   keys   none
--   args   tags
--   reply  as lib/sweeping.lua, for each queue of each partition and each kind: queue, needs
--          (lib/waiting.lua), count
-- Granted executions are not counted.
server.register_function{
  function_name = 'ff_count_waiting',
  callback = function(_, ARGV)
    return sweeping.each(ARGV, 1, function(tag, found)
      sweeping.each_queue(totals.queues(tag), function(queue)
        local counts = waiting.counts(tag, queue) or {}
        for i = 1, #counts, 2 do
          found[#found + 1] = queue
          found[#found + 1] = counts[i]
          found[#found + 1] = counts[i + 1]
        end
      end)
    end, totals.keys)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
