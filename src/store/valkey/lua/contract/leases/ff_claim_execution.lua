-- Gives a granted execution to its worker; an attempt begins.
--   keys   core, claim_grant, lane eligible, lease_expiry, worker leases, attempt, attempt usage, attempt
--          policy, attempts, lease:current, lease:history, lane active, attempt_timeout, execution_deadline
--   args   execution_id, worker_id, worker_instance_id, lane, capability_snapshot_hash, lease_id,
--          lease_ttl_ms, renew_before_ms, attempt_id, attempt_policy_json, attempt_timeout_ms,
--          execution_deadline_at
--   reply  OK lease_id lease_epoch lease_expires_at attempt_id attempt_index attempt_type; the same again
--          if it is repeated while the lease runs
local function refusal(x, worker)
  local f = x.f
  if f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_leaseable') end
  if f.ownership_state ~= 'unowned' then return reply.refuse('lease_conflict') end
  if f.eligibility_state ~= 'eligible_now' or f.terminal_outcome ~= 'none'
    or claiming.is_held_back_by_flow(x) then
    return reply.refuse('execution_not_leaseable')
  end
  if f.attempt_state == 'running_attempt' then return reply.refuse('active_attempt_exists') end
  if f.attempt_state == 'attempt_interrupted' then
    return reply.refuse('use_claim_resumed_execution')
  end
  local grant = grants.of(x)
  if not grant or grant.worker ~= worker then return reply.refuse('invalid_claim_grant') end
  if grant.is_over then return reply.refuse('claim_grant_expired') end
end

server.register_function('ff_claim_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, worker, instance, lane, _, lease_id, ttl_ms, renew_before_ms, attempt_id, policy_json,
    attempt_timeout_ms, deadline_at = unpack(ARGV)

  local read = arguments.reader()
  local want = {
    ttl = read:duration('lease_ttl_ms', ttl_ms),
    renew_before = read:number('renew_before_ms', renew_before_ms, 0, arguments.duration_max),
    attempt_timeout = read:optional_duration('attempt_timeout_ms', attempt_timeout_ms),
    deadline = read:optional_time('execution_deadline_at', deadline_at),
    worker = read:text('worker_id', worker), instance = read:text('worker_instance_id', instance),
    lease_id = read:text('lease_id', lease_id), attempt_id = read:text('attempt_id', attempt_id),
    lane = lane,
  }
  if want.deadline == 0 then want.deadline = nil end
  local refused = read.refused or claiming.check_attempt_policy(policy_json)
  if refused then return refused end
  local x
  x, refused = contract.load(core_key, id)
  if not x then return refused end
  if claiming.is_repeated(x, want) then return claiming.taken(x) end
  refused = refusal(x, want.worker)
  if refused then return refused end

  claiming.take(x, want)
  return claiming.taken(x)
end)
