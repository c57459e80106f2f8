-- Sets an execution whose worker lost its lease aside for another. KEYS: 1 core, 2 claim_grant,
-- 3 lease_expiry. ARGV: as of ff_issue_claim_grant. Replies OK execution_id grant_expires_at.
server.register_function('ff_issue_reclaim_grant', function(KEYS, ARGV)
  local want, refused = claiming.read_grant(ARGV)
  if refused then return refused end
  local x
  x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  if not contract.is_lost(x) then return reply.refuse('execution_not_reclaimable') end
  if grants.is_live(x) then return reply.refuse('grant_already_exists') end
  refused = claiming.check_capabilities(x, ARGV[9] or '')
  if refused then return refused end

  claiming.grant(x, want)
  return reply.ok(x.id, tostring(x.f.grant_expires_at))
end)
