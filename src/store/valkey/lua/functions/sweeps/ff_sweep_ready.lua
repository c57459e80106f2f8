-- The executions that wait for a worker, best first, in many partitions at once.
--   keys   none
--   args   each_max (executions of each queue), then tags
--   reply  as lib/sweeping.lua, for each partition that has any: tag; a list of id, namespace, lane,
--          priority, queued_at, required_capabilities, budget_ids, quota_policy_id; a list of the queues
--          that have more
-- Granted executions are left out: their grant's timer offers them again. Programs of version 0.1 use this
-- function, others ff_sweep_waiting.
local function add_ready(list, tag, key, most)
  local entries = server.call('ZRANGE', key, 0, most - 1)
  for _, id in ipairs(entries) do
    local f = server.call('HMGET', keys.of_execution(tag, id, 'core'), 'namespace', 'lane_id', 'priority',
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
    local each_max = tonumber(ARGV[1])

    return sweeping.each(ARGV, 2, function(tag, found)
      local list, more = {}, {}
      for _, queue in ipairs(totals.queues(tag)) do
        local eligible = add_ready(list, tag, keys.lane_index(tag, queue, 'eligible'), each_max)
        local lost = add_ready(list, tag, keys.lane_index(tag, queue, 'reclaimable'), each_max)
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
