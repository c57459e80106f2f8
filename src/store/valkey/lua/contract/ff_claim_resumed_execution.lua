-- Gives a granted execution to its worker; the attempt that paused goes on. KEYS: 1 core, 2 claim_grant,
-- 3 lane eligible, 4 lease_expiry, 5 worker leases, 6 attempt, 7 lease:current, 8 lease:history, 9 lane
-- active, 10 attempt_timeout, 11 execution_deadline. ARGV: 1 execution_id, 2 worker_id,
-- 3 worker_instance_id, 4 lane, 5 capability_hash, 6 lease_id, 7 lease_ttl_ms,
-- 8 remaining_attempt_timeout_ms (empty: what was left when it paused). Replies as ff_claim_execution.
local function refusal(x, worker)
  local f = x.f
  if f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_leaseable') end
  if f.attempt_state ~= 'attempt_interrupted' then
    return reply.refuse('not_a_resumed_execution')
  end
  if claiming.is_cancelled_with_flow(x) then return reply.refuse('execution_not_leaseable') end
  local grant = grants.of(x)
  if not grant or grant.worker ~= worker then return reply.refuse('invalid_claim_grant') end
  if grant.is_over then
    grants.remove(x)
    contract.save(x, 'promoted')
    return reply.refuse('claim_grant_expired')
  end
end

server.register_function('ff_claim_resumed_execution', function(KEYS, ARGV)
  local read = arguments.reader()
  local want = {
    ttl = read:duration('lease_ttl_ms', ARGV[7]),
    attempt_timeout = read:optional_duration('remaining_attempt_timeout_ms', ARGV[8]),
    worker = read:text('worker_id', ARGV[2]), instance = read:text('worker_instance_id', ARGV[3]),
    lease_id = read:text('lease_id', ARGV[6]), lane = ARGV[4],
  }
  if read.refused then return read.refused end
  want.renew_before = claiming.renew_before(want.ttl)
  local x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  if claiming.is_repeated(x, want) then return claiming.taken(x, 'resumed') end
  refused = refusal(x, want.worker)
  if refused then return refused end

  claiming.take(x, want)
  return claiming.taken(x, 'resumed')
end)
