-- The executions that wait for a worker, the best first, in many partitions at once. No KEYS. ARGV:
-- 1 now, 2 how many of each queue at most, 3… tags. Replies OK and for each partition with any: tag, and
-- a list of: id, namespace, lane, priority, queued_at, required_capabilities, and for each queue that
-- has more than it gave: '', queue, score of the last one given.
local function add_ready(list, tag, key, now, most)
  local entries = call('ZRANGE', key, 0, most - 1, 'WITHSCORES')
  for i = 1, #entries, 2 do
    local f = call('HMGET', keys.of_execution(tag, entries[i], 'core'), 'namespace', 'lane_id',
      'priority', 'created_at', 'queued_at', 'required_capabilities', 'grant_expires_at')
    local granted = f[7] and tonumber(f[7]) > now
    if f[1] and not granted then
      for _, text in ipairs({entries[i], f[1], f[2], f[3], f[5] or f[4], f[6] or ''}) do
        list[#list + 1] = text
      end
    end
  end
  return #entries / 2 == most
end

server.register_function{
  function_name = 'ff_sweep_ready',
  callback = function(_, ARGV)
    local now, most = arguments.now(ARGV[1]), tonumber(ARGV[2])
    local found = reply.ok()
    for i = 3, #ARGV do
      local tag, list, more = ARGV[i], {}, {}
      for _, queue in ipairs(totals.queues(tag)) do
        local eligible = add_ready(list, tag, keys.lane_index(tag, queue, 'eligible'), now, most)
        local lost = add_ready(list, tag, keys.lane_index(tag, queue, 'reclaimable'), now, most)
        if eligible or lost then more[#more + 1] = queue end
      end
      if #list > 0 or #more > 0 then
        found[#found + 1] = tag
        found[#found + 1] = list
        found[#found + 1] = more
      end
    end
    return found
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
