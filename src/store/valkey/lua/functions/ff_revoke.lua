-- Takes a lease away. KEYS: core. ARGV: now, origin, 3 lease_id (empty: whichever), 4 reason. Replies
-- OK event status lease_epoch.
commands.register('ff_revoke', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local f = x.f
  if f.lifecycle_phase ~= 'active' then return leases.not_active(x) end
  local epoch = f.current_lease_epoch
  if f.ownership_state == 'lease_revoked' then return reply.ok('', 'already_revoked', epoch) end
  if f.ownership_state ~= 'leased' then return reply.ok('', 'already_expired', epoch) end
  if ARGV[3] ~= '' and ARGV[3] ~= f.current_lease_id then
    return reply.refuse('stale_lease', f.current_lease_id)
  end
  leases.lose(x, 'lease_revoked', ARGV[4])
  execution.save(x)
  return reply.ok(events.tell(x, 'lease_revoked', ARGV[2]), 'revoked', epoch)
end)
