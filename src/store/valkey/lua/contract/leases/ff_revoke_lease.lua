-- Takes a lease away.
--   keys   core, lease:current, lease:history, lease_expiry, worker leases
--   args   execution_id, expected_lease_id (empty: any), reason
--   reply  OK revoked lease_id lease_epoch, or ALREADY_SATISFIED and how it was lost before
server.register_function('ff_revoke_lease', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, expected, reason = ARGV[1], arguments.given(ARGV[2]), ARGV[3] or 'operator'

  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  local f = x.f
  if f.lifecycle_phase ~= 'active' then return contract.not_active(x) end
  if f.ownership_state == 'lease_revoked' then return reply.already('already_revoked') end
  if f.ownership_state == 'lease_expired_reclaimable' then return reply.already('already_expired') end
  if f.ownership_state ~= 'leased' then return reply.refuse('no_active_lease') end
  if expected and expected ~= f.current_lease_id then
    return reply.refuse('stale_lease',
      'expected ' .. expected .. ' but current is ' .. f.current_lease_id)
  end

  leases.lose(x, 'lease_revoked', reason)
  execution.put(x, {blocking_detail = 'lease revoked: ' .. reason})
  contract.save(x, 'lease_revoked')
  return reply.ok('revoked', f.current_lease_id, f.current_lease_epoch)
end)
