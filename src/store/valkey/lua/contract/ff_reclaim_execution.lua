-- Gives an execution whose worker lost its lease to the one that was granted it; a new attempt begins.
-- KEYS: 1 core, 2 claim_grant, 3 old attempt, 4 old stream meta, 5 new attempt, 6 new attempt usage,
-- 7 attempts, 8 lease:current, 9 lease:history, 10 lease_expiry, 11 worker leases, 12 lane active,
-- 13 attempt_timeout, 14 execution_deadline. ARGV: 1 execution_id, 2 worker_id, 3 worker_instance_id,
-- 4 lane, 5 lease_id, 6 lease_ttl_ms, 7 attempt_id, 8 attempt_policy_json,
-- 9 default_max_reclaim_count. Replies as ff_claim_execution. An execution that was lost too often ends
-- instead.
local function give_up(x, max)
  ending.give_up(x)
  execution.put(x, {failure_reason = 'max_reclaims_exceeded'})
  grants.remove(x)
  contract.save(x, 'failed')
  return reply.refuse('max_retries_exhausted', string.format('%.0f', max))
end

server.register_function('ff_reclaim_execution', function(KEYS, ARGV)
  local read = arguments.reader()
  local want = {
    ttl = read:duration('lease_ttl_ms', ARGV[6]),
    worker = read:text('worker_id', ARGV[2]), instance = read:text('worker_instance_id', ARGV[3]),
    lease_id = read:text('lease_id', ARGV[5]), attempt_id = read:text('attempt_id', ARGV[7]),
    lane = ARGV[4],
  }
  local default_max = read:optional_number('default_max_reclaim_count', ARGV[9], 0)
  if read.refused then return read.refused end
  want.renew_before = claiming.renew_before(want.ttl)
  local x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  if claiming.is_repeated(x, want) then return claiming.taken(x) end
  if not contract.is_lost(x) then return reply.refuse('execution_not_reclaimable') end
  local grant = grants.of(x)
  if not grant or grant.is_over or grant.worker ~= want.worker then
    return reply.refuse('invalid_claim_grant')
  end
  local max = policy.max_reclaims(x, default_max)
  if execution.count(x, 'lease_reclaim_count') >= max then return give_up(x, max) end

  attempts.close_stream(x, 'reclaimed')
  claiming.take(x, want)
  return claiming.taken(x)
end)
