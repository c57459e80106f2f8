-- Gives an execution to a worker without a grant before, as operators do. KEYS: 1 core, 2 claim_grant,
-- 3 lane eligible, 4 lease_expiry, 5 worker leases, 6 attempts, 7 lease:current, 8 lease:history, 9 lane
-- active, 10 attempt_timeout, 11 execution_deadline. ARGV: 1 execution_id, 2 worker_id,
-- 3 worker_instance_id, 4 lane, 5 capability_hash, 6 lease_id, 7 lease_ttl_ms, 8 attempt_id,
-- 9 attempt_policy_json, 10 attempt_timeout_ms, 11 execution_deadline_at. Replies OK lease_id
-- lease_epoch attempt_index; the same again if it is repeated while the lease runs.
local function refusal(x)
  local f = x.f
  if f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_eligible') end
  if f.ownership_state ~= 'unowned' then return reply.refuse('lease_conflict') end
  if f.terminal_outcome ~= 'none' or claiming.is_cancelled_with_flow(x) then
    return reply.refuse('execution_not_eligible')
  end
  if f.attempt_state == 'running_attempt' then return reply.refuse('active_attempt_exists') end
  if grants.is_live(x) then return reply.refuse('grant_already_exists') end
  if f.attempt_state == 'attempt_interrupted' then return nil end
  if not call('ZSCORE', keys.lane_index(x.tag, placement.queue(f), 'eligible'), x.id) then
    return reply.refuse('execution_not_in_eligible_set')
  end
  if f.eligibility_state ~= 'eligible_now' then return reply.refuse('execution_not_eligible') end
end

local function taken(x)
  local f = x.f
  return reply.ok(f.current_lease_id, tostring(f.current_lease_epoch),
    tostring(f.current_attempt_index))
end

server.register_function('ff_issue_grant_and_claim', function(KEYS, ARGV)
  local read = arguments.reader()
  local want = {
    ttl = read:duration('lease_ttl_ms', ARGV[7]),
    attempt_timeout = read:optional_duration('attempt_timeout_ms', ARGV[10]),
    deadline = read:optional_time('execution_deadline_at', ARGV[11]),
    worker = read:text('worker_id', ARGV[2]), instance = read:text('worker_instance_id', ARGV[3]),
    lease_id = read:text('lease_id', ARGV[6]), attempt_id = read:text('attempt_id', ARGV[8]),
    lane = ARGV[4], admission = '',
  }
  local refused = read.refused or claiming.check_attempt_policy(ARGV[9])
  if refused then return refused end
  want.renew_before = claiming.renew_before(want.ttl)
  local x
  x, refused = contract.load(KEYS[1], ARGV[1])
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
