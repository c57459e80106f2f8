-- Counts what waits in a partition anew (lib/waiting.lua). KEYS: any key of the partition. ARGV: 1 how many
-- entries a queue may have that was counted before: a longer one would keep other calls waiting. Replies OK
-- how many counts were wrong.
server.register_function('ff_recount_waiting', function(KEYS, ARGV)
  local tag, most, wrong = string.match(KEYS[1], '{[^}]*}'), tonumber(ARGV[1]), 0
  for _, queue in ipairs(totals.queues(tag)) do
    local is_counted = waiting.counts(tag, queue) ~= nil
    local entries = call('ZCARD', keys.lane_index(tag, queue, 'eligible'))
    if is_counted and entries <= most then
      wrong = wrong + waiting.recount(tag, queue)
    elseif not is_counted and entries > 0 then
      waiting.recount(tag, queue)
    end
  end
  return reply.ok(tostring(wrong))
end)
