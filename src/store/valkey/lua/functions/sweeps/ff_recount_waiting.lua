-- Counts the waiting executions of a partition again (lib/waiting.lua), as many as one call can.
--   keys   any key of the partition
--   args   entries_max: a longer queue that has counts is left alone; after (the last queue of the call before;
--          empty or absent: from the first one)
--   reply  OK, how many counts were wrong, and if there is more to count, the last queue that was looked at
server.register_function('ff_recount_waiting', function(KEYS, ARGV)
  local tag, entries_max, after = keys.tag_in(KEYS[1]), tonumber(ARGV[1]), ARGV[2] or ''

  local queues = totals.queues(tag)
  table.sort(queues)
  local wrong, looked_at = 0, 0
  for _, queue in ipairs(queues) do
    if queue > after then
      local entries = waiting.length(tag, queue)
      if entries > 0 or waiting.counts(tag, queue) then
        if looked_at > 0 and looked_at + math.min(entries, entries_max) > entries_max then
          return reply.ok(tostring(wrong), after)
        end
        wrong = wrong + waiting.recount(tag, queue, entries_max)
        looked_at = looked_at + math.min(entries, entries_max)
      end
      after = queue
    end
  end
  return reply.ok(tostring(wrong))
end)
