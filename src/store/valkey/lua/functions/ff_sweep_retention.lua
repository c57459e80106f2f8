-- Ended executions that need not be kept any longer, in many partitions at once. No KEYS. ARGV: 1 now,
-- 2 how many of each lane in each partition at most, 3… tags. Replies OK, the time when the first of the
-- others is due ('' if none is known) and the ids.
server.register_function{
  function_name = 'ff_sweep_retention',
  callback = function(_, ARGV)
    local ended_until, most = ARGV[1] - placement.retention_default, tonumber(ARGV[2])
    local found, next_end = reply.ok(''), nil
    local function look(key)
      local entries = call('ZRANGE', key, 0, most, 'WITHSCORES')
      for j = 1, #entries, 2 do
        local ended = tonumber(entries[j + 1])
        if ended > ended_until or (j + 1) / 2 > most then
          next_end = math.min(next_end or ended, ended)
          return
        end
        found[#found + 1] = entries[j]
      end
    end
    for i = 3, #ARGV do
      for _, queue in ipairs(totals.queues(ARGV[i])) do
        look(keys.lane_index(ARGV[i], queue, 'terminal'))
      end
    end
    if next_end then found[3] = string.format('%.0f', next_end + placement.retention_default) end
    return found
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
