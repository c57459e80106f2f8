-- Sets an execution whose worker lost its lease aside for another.
--   keys   core, claim_grant, lease_expiry
--   args   as of ff_issue_claim_grant
--   reply  OK execution_id grant_expires_at
server.register_function('ff_issue_reclaim_grant', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, worker_capabilities = ARGV[1], ARGV[9] or ''

  local want, refused = claiming.read_grant(ARGV)
  if refused then return refused end
  local x
  x, refused = contract.load(core_key, id)
  if not x then return refused end
  if not contract.is_lost(x) or claiming.is_held_back_by_flow(x) then
    return reply.refuse('execution_not_reclaimable')
  end
  if grants.is_live(x) then return reply.refuse('grant_already_exists') end
  refused = claiming.check_capabilities(x, worker_capabilities)
  if refused then return refused end

  claiming.grant(x, want)
  return reply.ok(x.id, tostring(x.f.grant_expires_at))
end)
