-- The contract's ways to a lease.
local claiming = {}

-- Nodes of a flow that is cancelled or paused are not begun, even before their own cancel arrives.
function claiming.is_held_back_by_flow(x)
  return flows.check_start(x) ~= nil
end

-- Whether the lease that is asked for is the one that runs: the first reply was lost.
function claiming.is_repeated(x, want)
  local f = x.f
  return f.ownership_state == 'leased' and f.current_lease_id == want.lease_id
    and f.current_worker_id == want.worker and tonumber(f.lease_expires_at) > x.now
    and (want.attempt_id == nil or f.current_attempt_id == want.attempt_id)
end

-- Policies of single attempts are not kept, but what is given as one must be one.
function claiming.check_attempt_policy(text)
  if text and text ~= '' and not policy.decode(text) then
    return reply.refuse('invalid_policy_json', 'malformed')
  end
end

-- A lease should be renewed when two thirds of it are over.
function claiming.renew_before(ttl)
  return math.floor(ttl * 2 / 3)
end

-- Refuses a worker that lacks what the execution requires.
function claiming.check_capabilities(x, worker_csv)
  local _, refused = leases.tokens(x.f.required_capabilities or '', 'required')
  if refused then return refused end
  _, refused = leases.tokens(worker_csv, 'worker')
  if refused then return refused end
  local missing = leases.missing(x, worker_csv)
  if not missing then return nil end
  execution.put(x, {last_capability_mismatch_at = x.now})
  execution.save(x)
  return reply.refuse('capability_mismatch', missing)
end

-- The arguments of both functions that issue grants (ff_issue_claim_grant), or the refusal as a second value.
function claiming.read_grant(ARGV)
  local _, worker, instance, _, capability_hash, ttl_ms, route, admission_summary = unpack(ARGV)
  local read = arguments.reader()
  local want = {
    ttl = read:duration('grant_ttl_ms', ttl_ms), worker = read:text('worker_id', worker),
    instance = read:text('worker_instance_id', instance), capability_hash = capability_hash,
    route = route, admission_summary = admission_summary,
  }
  return want, read.refused
end

function claiming.grant(x, want)
  grants.issue(x, want)
  grants.let_expire(x)
  contract.save(x, 'granted')
end

-- `want` is that of leases.begin, and maybe lane, deadline.
function claiming.take(x, want)
  local kind = leases.begin(x, want)
  grants.remove(x)
  execution.put(x, {
    lease_last_renewed_at = x.now, current_lane = arguments.given(want.lane),
    deadline = want.deadline,
  })
  if kind then
    server.call('HSET', attempts.key(x), 'execution_id', x.id, 'created_at', x.now)
  end
  contract.save(x, 'claimed')
end

-- The reply of a claim, also of one that is repeated. `kind` is nil where the attempt tells it.
function claiming.taken(x, kind)
  local f = x.f
  return reply.ok(f.current_lease_id, tostring(f.current_lease_epoch),
    tostring(f.lease_expires_at), f.current_attempt_id, tostring(folded.index(f)),
    kind or attempts.values(x, 'attempt_type')[1])
end

return claiming
