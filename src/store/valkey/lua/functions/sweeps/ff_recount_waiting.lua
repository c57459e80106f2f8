-- Counts the waiting executions of a partition again (lib/waiting.lua).
--   keys   any key of the partition
--   args   entries_max: a longer queue that has counts is left alone, since a recount would block other
--          calls
--   reply  OK and how many counts were wrong
server.register_function('ff_recount_waiting', function(KEYS, ARGV)
  local tag, entries_max = keys.tag_in(KEYS[1]), tonumber(ARGV[1])

  local wrong = 0
  for _, queue in ipairs(totals.queues(tag)) do
    local is_counted = waiting.counts(tag, queue) ~= nil
    local entries = server.call('ZCARD', keys.lane_index(tag, queue, 'eligible'))
    if is_counted and entries <= entries_max then
      wrong = wrong + waiting.recount(tag, queue)
    elseif not is_counted and entries > 0 then
      waiting.recount(tag, queue)
    end
  end
  return reply.ok(tostring(wrong))
end)
