-- The executions that wait for a worker, the best first, in many partitions at once. No KEYS. ARGV:
-- 1 how many of each queue at most, 2… tags. Replies as lib/sweeping.lua, for each partition with any:
-- tag, a list of: id, namespace, lane, priority, queued_at, required_capabilities, budget_ids,
-- quota_policy_id, and a list of the queues that have more than it gave. What is granted is offered again
-- when its timer has ended the grant. Programs of version 0.1 use it; see ff_sweep_waiting.
local function add_ready(list, tag, key, most)
  local entries = call('ZRANGE', key, 0, most - 1)
  for _, id in ipairs(entries) do
    local f = call('HMGET', keys.of_execution(tag, id, 'core'), 'namespace', 'lane_id', 'priority',
      'created_at', 'queued_at', 'required_capabilities', 'budget_ids', 'quota_policy_id',
      'grant_expires_at')
    if f[1] and not f[9] then
      for _, text in ipairs({
        id, f[1], f[2], f[3] or '0', f[5] or f[4], f[6] or '', f[7] or '', f[8] or '',
      }) do
        list[#list + 1] = text
      end
    end
  end
  return #entries == most
end

server.register_function{
  function_name = 'ff_sweep_ready',
  callback = function(_, ARGV)
    local most = tonumber(ARGV[1])
    return sweeping.each(ARGV, 2, function(tag, found)
      local list, more = {}, {}
      for _, queue in ipairs(totals.queues(tag)) do
        local eligible = add_ready(list, tag, keys.lane_index(tag, queue, 'eligible'), most)
        local lost = add_ready(list, tag, keys.lane_index(tag, queue, 'reclaimable'), most)
        if eligible or lost then more[#more + 1] = queue end
      end
      if #list > 0 or #more > 0 then
        found[#found + 1] = tag
        found[#found + 1] = list
        found[#found + 1] = more
      end
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
