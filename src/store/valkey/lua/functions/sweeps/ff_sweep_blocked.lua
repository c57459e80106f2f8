-- Executions that are blocked for a reason, in many partitions at once.
--   keys   none
--   args   reason, most (in all), offset (entries of each queue of the first partition to skip), the tag of
--          that partition, then tags
--   reply  as lib/sweeping.lua: the tag of the first partition not looked at, or not to its end ('' if
--          there is none), and the offset there; then of each execution, longest blocked first in each
--          queue: id, namespace, lane, required_capabilities, budget_ids, quota_policy_id
-- A partition is looked at as a whole unless it has very many, so that entries which leave an index
-- meanwhile do not make others be skipped.
local parts = 6

local function add(found, tag, id, reason)
  local f = server.call('HMGET', keys.of_execution(tag, id, 'core'), 'namespace', 'lane_id',
    'required_capabilities', 'budget_ids', 'quota_policy_id', 'blocking_reason')
  if f[6] ~= reason then return end
  found[#found + 1] = id
  for i = 1, parts - 1 do found[#found + 1] = f[i] or '' end
end

-- Only nodes wait for others, and their flow is open.
local function keys_of_flows(tag)
  return {keys.index(tag, 'flow_index')}
end

server.register_function{
  function_name = 'ff_sweep_blocked',
  callback = function(_, ARGV)
    local reason, most, first_offset, first_tag = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]

    local next_tag, next_offset, count = '', 0, 0
    local found = sweeping.each(ARGV, 5, function(tag, list)
      if next_tag ~= '' then return end
      if count >= most then
        next_tag = tag
        return
      end
      local offset = tag == first_tag and first_offset or 0
      for _, queue in ipairs(totals.queues(tag)) do
        local key = keys.lane_index(tag, queue, placement.blocked_index[reason])
        local ids = server.call('ZRANGE', key, offset, offset + most - 1)
        for _, id in ipairs(ids) do add(list, tag, id, reason) end
        count = count + #ids
        if #ids == most then next_tag, next_offset = tag, offset + most end
      end
    end, reason == 'waiting_for_children' and keys_of_flows or totals.keys)
    table.insert(found, 4, next_tag)
    table.insert(found, 5, tostring(next_offset))
    return found
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
