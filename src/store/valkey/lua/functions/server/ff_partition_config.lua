-- How many partitions the store has: written once, by the first program.
--   keys   ff:config:partitions
--   args   partitions of flows, budgets and quotas, if there are none yet
--   reply  those of flows; of ff_partition_counts a list of all three
-- Beside them stands the newest version of this library that was ever loaded here.
local fields = {'num_flow_partitions', 'num_budget_partitions', 'num_quota_partitions'}

local function is_newer(version, other)
  local major, minor = string.match(version, '^(%d+)%.(%d+)$')
  local other_major, other_minor = string.match(other or '', '^(%d+)%.(%d+)$')
  if not other_major then return true end
  major, other_major = tonumber(major), tonumber(other_major)
  return major > other_major or major == other_major and tonumber(minor) > tonumber(other_minor)
end

local function counts(KEYS, ARGV)
  local key = KEYS[1]

  if is_newer(library_version, server.call('HGET', key, 'library_version')) then
    server.call('HSET', key, 'library_version', library_version)
  end
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
