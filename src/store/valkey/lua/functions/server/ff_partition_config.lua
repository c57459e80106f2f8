-- How many partitions the store has: written once, by the first program.
--   keys   ff:config:partitions
--   args   partitions of flows, budgets and quotas, if there are none yet
--   reply  those of flows; of ff_partition_counts a list of all three
local fields = {'num_flow_partitions', 'num_budget_partitions', 'num_quota_partitions'}

local function counts(KEYS, ARGV)
  local key = KEYS[1]

  local stored = server.call('HMGET', key, unpack(fields))
  for i, field in ipairs(fields) do
    if not stored[i] then
      stored[i] = ARGV[i]
      server.call('HSET', key, field, ARGV[i])
    end
  end
  return stored
end

server.register_function('ff_partition_counts', counts)
server.register_function('ff_partition_config', function(KEYS, ARGV) return counts(KEYS, ARGV)[1] end)
