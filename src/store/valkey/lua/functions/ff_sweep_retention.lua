-- Ended executions that need not be kept any longer, in many partitions at once. No KEYS. ARGV: 1 now,
-- 2 how many of each lane in each partition at most, 3… tags. Replies as lib/sweeping.lua: the time when
-- the first of the others is due ('' if none is known) and the ids.
server.register_function{
  function_name = 'ff_sweep_retention',
  callback = function(_, ARGV)
    local ended_until, most = ARGV[1] - placement.retention_default, tonumber(ARGV[2])
    local next_end
    local function look(key, ids)
      local entries = call('ZRANGE', key, 0, most, 'WITHSCORES')
      for j = 1, #entries, 2 do
        local ended = tonumber(entries[j + 1])
        if ended > ended_until or (j + 1) / 2 > most then
          next_end = math.min(next_end or ended, ended)
          return
        end
        ids[#ids + 1] = entries[j]
      end
    end
    local found = sweeping.each(ARGV, 3, function(tag, ids)
      for _, queue in ipairs(totals.queues(tag)) do
        look(keys.lane_index(tag, queue, 'terminal'), ids)
      end
    end)
    local due = next_end and string.format('%.0f', next_end + placement.retention_default) or ''
    table.insert(found, 4, due)
    return found
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
