-- Ended executions and flows whose retention is over, in many partitions at once.
--   keys   none
--   args   now, ids_max, then tags
--   reply  as lib/sweeping.lua: when the first of the others is due ('' if none is known), then the ids
server.register_function{
  function_name = 'ff_sweep_retention',
  callback = function(_, ARGV)
    local now, ids_max = tonumber(ARGV[1]), tonumber(ARGV[2])

    local ended_until = now - placement.retention_default
    local next_end
    local left = ids_max
    local function look(key, ids)
      local entries = server.call('ZRANGE', key, 0, left, 'WITHSCORES')
      for j = 1, #entries, 2 do
        local ended = tonumber(entries[j + 1])
        if ended >= placement.never - placement.retention_default then return end  -- nodes go with their flow
        if ended > ended_until or left == 0 then
          next_end = math.min(next_end or ended, ended)
          return
        end
        ids[#ids + 1] = entries[j]
        left = left - 1
      end
    end
    local found = sweeping.each(ARGV, 3, function(tag, ids)
      look(keys.index(tag, 'flow_retention'), ids)
      for _, queue in ipairs(totals.queues(tag)) do
        look(keys.lane_index(tag, queue, 'terminal'), ids)
      end
      return left == 0
    end, function(tag) return {keys.index(tag, 'flow_retention'), keys.index(tag, 'totals')} end)
    local due = next_end and string.format('%.0f', next_end + placement.retention_default) or ''
    table.insert(found, 4, due)
    return found
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
