-- Executions that are blocked for a reason, in many partitions at once. No KEYS. ARGV: 1 reason, 2 how
-- many of each queue to pass over, 3 how many of each queue at most, 4… tags. Replies as
-- lib/sweeping.lua: first 1 if a queue has more, else 0; then of each execution, those blocked longest
-- first in each queue: id, namespace, lane, required_capabilities, budget_ids, quota_policy_id.
server.register_function{
  function_name = 'ff_sweep_blocked',
  callback = function(_, ARGV)
    local reason, first, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
    local more = '0'
    local function add(found, tag, queue)
      local key = keys.lane_index(tag, queue, placement.blocked_index[reason])
      local ids = call('ZRANGE', key, first, first + most - 1)
      if #ids == most then more = '1' end
      for _, id in ipairs(ids) do
        local f = call('HMGET', keys.of_execution(tag, id, 'core'), 'namespace', 'lane_id',
          'required_capabilities', 'budget_ids', 'quota_policy_id', 'blocking_reason')
        if f[6] == reason then
          found[#found + 1] = id
          for i = 1, 5 do found[#found + 1] = f[i] or '' end
        end
      end
    end
    local found = sweeping.each(ARGV, 4, function(tag, list)
      for _, queue in ipairs(totals.queues(tag)) do add(list, tag, queue) end
    end)
    table.insert(found, 4, more)
    return found
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
