-- Gives an execution whose worker lost its lease to the worker with the grant; a new attempt begins.
--   keys   core, claim_grant, old attempt, old stream meta, new attempt, new attempt usage, attempts,
--          lease:current, lease:history, lease_expiry, worker leases, lane active, attempt_timeout,
--          execution_deadline
--   args   execution_id, worker_id, worker_instance_id, lane, lease_id, lease_ttl_ms, attempt_id,
--          attempt_policy_json, default_max_reclaim_count
--   reply  as ff_claim_execution
-- An execution that was lost too often ends instead.
local function give_up(x, max)
  ending.give_up(x)
  execution.put(x, {failure_reason = 'max_reclaims_exceeded'})
  grants.remove(x)
  contract.save(x, 'failed')
  return reply.refuse('max_retries_exhausted', string.format('%.0f', max))
end

server.register_function('ff_reclaim_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, worker, instance, lane, lease_id, ttl_ms, attempt_id, _, default_max_reclaims = unpack(ARGV)

  local read = arguments.reader()
  local want = {
    ttl = read:duration('lease_ttl_ms', ttl_ms),
    worker = read:text('worker_id', worker), instance = read:text('worker_instance_id', instance),
    lease_id = read:text('lease_id', lease_id), attempt_id = read:text('attempt_id', attempt_id),
    lane = lane,
  }
  local default_max = read:optional_number('default_max_reclaim_count', default_max_reclaims, 0)
  if read.refused then return read.refused end
  want.renew_before = claiming.renew_before(want.ttl)
  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  if claiming.is_repeated(x, want) then return claiming.taken(x) end
  if not contract.is_lost(x) or claiming.is_held_back_by_flow(x) then
    return reply.refuse('execution_not_reclaimable')
  end
  local grant = grants.of(x)
  if not grant or grant.is_over or grant.worker ~= want.worker then
    return reply.refuse('invalid_claim_grant')
  end
  local max = policy.max_reclaims(x, default_max)
  if execution.count(x, 'lease_reclaim_count') >= max then return give_up(x, max) end

  claiming.take(x, want)
  return claiming.taken(x)
end)
