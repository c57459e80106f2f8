-- How many partitions the store has: written once, by whoever comes first. KEYS: ff:config:partitions.
-- ARGV: how many for flows, budgets and quotas, if there are none yet. Replies with that of flows.
server.register_function('ff_partition_config', function(KEYS, ARGV)
  if call('EXISTS', KEYS[1]) == 0 then
    call('HSET', KEYS[1], 'num_flow_partitions', ARGV[1], 'num_budget_partitions', ARGV[2],
      'num_quota_partitions', ARGV[3])
  end
  return call('HGET', KEYS[1], 'num_flow_partitions') or '0'
end)
