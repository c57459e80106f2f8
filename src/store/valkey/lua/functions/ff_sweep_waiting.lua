-- The best of the executions that wait for a worker, in many partitions at once. No KEYS. ARGV: 1 how many
-- entries of each index to look at, 2 how many executions of a queue with the same needs at most, 3… tags.
-- Replies as lib/sweeping.lua, for each partition with any: tag, and a list of what waiting.look tells of
-- each index.
server.register_function{
  function_name = 'ff_sweep_waiting',
  callback = function(_, ARGV)
    local look = {after_id = '', entries = tonumber(ARGV[1]), each = tonumber(ARGV[2])}
    return sweeping.each(ARGV, 3, function(tag, found)
      local answer = {}
      for _, queue in ipairs(totals.queues(tag)) do
        waiting.look(answer, tag, queue, 'eligible', look)
        waiting.look(answer, tag, queue, 'reclaimable', look)
      end
      if #answer > 0 then
        found[#found + 1] = tag
        found[#found + 1] = answer
      end
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
