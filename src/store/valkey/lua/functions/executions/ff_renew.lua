-- Extends a lease.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, lease_ttl_ms
--   reply  OK '' lease_expires_at timer due
-- A renewal has no event.
commands.register('ff_renew', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, _, lease_id, lease_epoch, attempt_id, ttl_ms = unpack(ARGV)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
  if refused then return refused end

  execution.put(x, {
    lease_expires_at = x.now + tonumber(ttl_ms), lease_last_renewed_at = x.now,
    last_mutation_at = x.now,
  })
  execution.save(x)
  local timer, due = timers.next(x.f)
  return reply.ok('', tostring(x.f.lease_expires_at), timer, tostring(due))
end)
