-- Sets a ready execution aside for a worker.
--   keys   core, claim_grant, lane eligible
--   args   execution_id, worker_id, worker_instance_id, lane_id, capability_hash, grant_ttl_ms,
--          route_snapshot_json, admission_summary, worker_capabilities (CSV)
--   reply  OK execution_id
local function refusal(x, worker_capabilities)
  if not contract.is_ready(x) or claiming.is_held_back_by_flow(x) then
    return reply.refuse('execution_not_eligible')
  end
  if grants.is_live(x) then return reply.refuse('grant_already_exists') end
  local eligible = keys.lane_index(x.tag, placement.queue(x.f), 'eligible')
  if not server.call('ZSCORE', eligible, x.id) then
    return reply.refuse('execution_not_in_eligible_set')
  end
  return claiming.check_capabilities(x, worker_capabilities)
end

server.register_function('ff_issue_claim_grant', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, worker_capabilities = ARGV[1], ARGV[9] or ''

  local want, refused = claiming.read_grant(ARGV)
  if refused then return refused end
  local x
  x, refused = contract.load(core_key, id)
  if not x then return refused end
  refused = refusal(x, worker_capabilities)
  if refused then return refused end

  claiming.grant(x, want)
  return reply.ok(x.id)
end)
