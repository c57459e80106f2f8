-- Gives an execution to a worker without a grant before, as operators do.
--   keys   core, claim_grant, lane eligible, lease_expiry, worker leases, attempts, lease:current,
--          lease:history, lane active, attempt_timeout, execution_deadline
--   args   execution_id, worker_id, worker_instance_id, lane, capability_hash, lease_id, lease_ttl_ms,
--          attempt_id, attempt_policy_json, attempt_timeout_ms, execution_deadline_at
--   reply  OK lease_id lease_epoch attempt_index; the same again if it is repeated while the lease runs
local function refusal(x)
  local f = x.f
  if f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_eligible') end
  if f.ownership_state ~= 'unowned' then return reply.refuse('lease_conflict') end
  if f.terminal_outcome ~= 'none' or claiming.is_held_back_by_flow(x) then
    return reply.refuse('execution_not_eligible')
  end
  if f.attempt_state == 'running_attempt' then return reply.refuse('active_attempt_exists') end
  if grants.is_live(x) then return reply.refuse('grant_already_exists') end
  if f.attempt_state == 'attempt_interrupted' then return nil end
  if not server.call('ZSCORE', keys.lane_index(x.tag, placement.queue(f), 'eligible'), x.id) then
    return reply.refuse('execution_not_in_eligible_set')
  end
  if f.eligibility_state ~= 'eligible_now' then return reply.refuse('execution_not_eligible') end
end

local function taken(x)
  local f = x.f
  return reply.ok(f.current_lease_id, tostring(f.current_lease_epoch),
    tostring(folded.index(f)))
end

server.register_function('ff_issue_grant_and_claim', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, worker, instance, lane, _, lease_id, ttl_ms, attempt_id, policy_json, attempt_timeout_ms,
    deadline_at = unpack(ARGV)

  local read = arguments.reader()
  local want = {
    ttl = read:duration('lease_ttl_ms', ttl_ms),
    attempt_timeout = read:optional_duration('attempt_timeout_ms', attempt_timeout_ms),
    deadline = read:optional_time('execution_deadline_at', deadline_at),
    worker = read:text('worker_id', worker), instance = read:text('worker_instance_id', instance),
    lease_id = read:text('lease_id', lease_id), attempt_id = read:text('attempt_id', attempt_id),
    lane = lane, admission = '',
  }
  local refused = read.refused or claiming.check_attempt_policy(policy_json)
  if refused then return refused end
  want.renew_before = claiming.renew_before(want.ttl)
  local x
  x, refused = contract.load(core_key, id)
  if not x then return refused end
  local is_resumed = x.f.attempt_state == 'attempt_interrupted'
  if is_resumed or want.deadline == 0 then want.deadline = nil end
  if is_resumed then want.attempt_timeout = nil end
  if claiming.is_repeated(x, {lease_id = want.lease_id, worker = want.worker}) then
    return taken(x)
  end
  refused = refusal(x)
  if refused then return refused end

  claiming.take(x, want)
  return taken(x)
end)
