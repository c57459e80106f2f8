-- Gives a granted execution to its worker; the attempt that paused continues.
--   keys   core, claim_grant, lane eligible, lease_expiry, worker leases, attempt, lease:current,
--          lease:history, lane active, attempt_timeout, execution_deadline
--   args   execution_id, worker_id, worker_instance_id, lane, capability_hash, lease_id, lease_ttl_ms,
--          remaining_attempt_timeout_ms (empty: what was left when it paused)
--   reply  as ff_claim_execution
local function refusal(x, worker)
  local f = x.f
  if f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_leaseable') end
  if f.attempt_state ~= 'attempt_interrupted' then
    return reply.refuse('not_a_resumed_execution')
  end
  if claiming.is_held_back_by_flow(x) then return reply.refuse('execution_not_leaseable') end
  local grant = grants.of(x)
  if not grant or grant.worker ~= worker then return reply.refuse('invalid_claim_grant') end
  if grant.is_over then
    grants.remove(x)
    contract.save(x, 'promoted')
    return reply.refuse('claim_grant_expired')
  end
end

server.register_function('ff_claim_resumed_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, worker, instance, lane, _, lease_id, ttl_ms, attempt_timeout_ms = unpack(ARGV)

  local read = arguments.reader()
  local want = {
    ttl = read:duration('lease_ttl_ms', ttl_ms),
    attempt_timeout = read:optional_duration('remaining_attempt_timeout_ms', attempt_timeout_ms),
    worker = read:text('worker_id', worker), instance = read:text('worker_instance_id', instance),
    lease_id = read:text('lease_id', lease_id), lane = lane,
  }
  if read.refused then return read.refused end
  want.renew_before = claiming.renew_before(want.ttl)
  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  if claiming.is_repeated(x, want) then return claiming.taken(x, 'resumed') end
  refused = refusal(x, want.worker)
  if refused then return refused end

  claiming.take(x, want)
  return claiming.taken(x, 'resumed')
end)
