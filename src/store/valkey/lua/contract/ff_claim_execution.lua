-- Gives a granted execution to its worker; an attempt begins. KEYS: 1 core, 2 claim_grant, 3 lane
-- eligible, 4 lease_expiry, 5 worker leases, 6 attempt, 7 attempt usage, 8 attempt policy, 9 attempts,
-- 10 lease:current, 11 lease:history, 12 lane active, 13 attempt_timeout, 14 execution_deadline. ARGV:
-- 1 execution_id, 2 worker_id, 3 worker_instance_id, 4 lane, 5 capability_snapshot_hash, 6 lease_id,
-- 7 lease_ttl_ms, 8 renew_before_ms, 9 attempt_id, 10 attempt_policy_json, 11 attempt_timeout_ms,
-- 12 execution_deadline_at. Replies OK lease_id lease_epoch lease_expires_at attempt_id attempt_index
-- attempt_type; the same again if it is repeated while the lease runs.
local function refusal(x, worker)
  local f = x.f
  if f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_leaseable') end
  if f.ownership_state ~= 'unowned' then return reply.refuse('lease_conflict') end
  if f.eligibility_state ~= 'eligible_now' or f.terminal_outcome ~= 'none'
    or claiming.is_cancelled_with_flow(x) then
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
  local read = arguments.reader()
  local want = {
    ttl = read:duration('lease_ttl_ms', ARGV[7]),
    renew_before = read:number('renew_before_ms', ARGV[8], 0, arguments.duration_max),
    attempt_timeout = read:optional_duration('attempt_timeout_ms', ARGV[11]),
    deadline = read:optional_time('execution_deadline_at', ARGV[12]),
    worker = read:text('worker_id', ARGV[2]), instance = read:text('worker_instance_id', ARGV[3]),
    lease_id = read:text('lease_id', ARGV[6]), attempt_id = read:text('attempt_id', ARGV[9]),
    lane = ARGV[4],
  }
  if want.deadline == 0 then want.deadline = nil end
  local refused = read.refused or claiming.check_attempt_policy(ARGV[10])
  if refused then return refused end
  local x
  x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  if claiming.is_repeated(x, want) then return claiming.taken(x) end
  refused = refusal(x, want.worker)
  if refused then return refused end

  claiming.take(x, want)
  return claiming.taken(x)
end)
