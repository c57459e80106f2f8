-- Sets a ready execution aside for a worker. KEYS: 1 core, 2 claim_grant, 3 lane eligible. ARGV:
-- 1 execution_id, 2 worker_id, 3 worker_instance_id, 4 lane_id, 5 capability_hash, 6 grant_ttl_ms,
-- 7 route_snapshot_json, 8 admission_summary, 9 worker_capabilities (CSV). Replies OK execution_id.
local function refusal(x, worker_capabilities)
  if not contract.is_ready(x) or claiming.is_cancelled_with_flow(x) then
    return reply.refuse('execution_not_eligible')
  end
  if grants.is_live(x) then return reply.refuse('grant_already_exists') end
  local eligible = keys.lane_index(x.tag, placement.queue(x.f), 'eligible')
  if not call('ZSCORE', eligible, x.id) then
    return reply.refuse('execution_not_in_eligible_set')
  end
  return claiming.check_capabilities(x, worker_capabilities)
end

server.register_function('ff_issue_claim_grant', function(KEYS, ARGV)
  local want, refused = claiming.read_grant(ARGV)
  if refused then return refused end
  local x
  x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  refused = refusal(x, ARGV[9] or '')
  if refused then return refused end

  claiming.grant(x, want)
  return reply.ok(x.id)
end)
