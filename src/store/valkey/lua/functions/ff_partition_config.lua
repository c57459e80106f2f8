-- How many partitions the store has: written once, by whoever comes first. KEYS: ff:config:partitions.
-- ARGV: how many for flows, budgets and quotas, if there are none yet. Replies with that of flows, or (as
-- ff_partition_counts) with a list of all three.
local fields = {'num_flow_partitions', 'num_budget_partitions', 'num_quota_partitions'}

local function counts(KEYS, ARGV)
  local stored = call('HMGET', KEYS[1], unpack(fields))
  for i, field in ipairs(fields) do
    if not stored[i] then
      stored[i] = ARGV[i]
      call('HSET', KEYS[1], field, ARGV[i])
    end
  end
  return stored
end

server.register_function('ff_partition_counts', counts)
server.register_function('ff_partition_config', function(KEYS, ARGV) return counts(KEYS, ARGV)[1] end)
