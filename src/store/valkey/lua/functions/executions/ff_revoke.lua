-- Takes a lease away.
--   keys   core
--   args   now, origin, lease_id (empty: any), reason
--   reply  OK event status (revoked, already_revoked or already_expired) lease_epoch
-- Repeated with the same origin, it replies as the first time.
commands.register('ff_revoke', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, lease_id, reason = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local f = x.f
  if f.last_call == origin then return reply.ok('', 'revoked', f.revoked_epoch) end
  if f.lifecycle_phase ~= 'active' then return leases.not_active(x) end
  local epoch = f.current_lease_epoch
  if f.ownership_state == 'lease_revoked' then return reply.ok('', 'already_revoked', epoch) end
  if f.ownership_state ~= 'leased' then return reply.ok('', 'already_expired', epoch) end
  if lease_id ~= '' and lease_id ~= f.current_lease_id then
    return reply.refuse('stale_lease', f.current_lease_id)
  end

  leases.lose(x, 'lease_revoked', reason)
  execution.put(x, {last_call = origin, revoked_epoch = epoch})
  execution.save(x)
  return reply.ok(events.tell(x, 'lease_revoked', origin), 'revoked', epoch)
end)
