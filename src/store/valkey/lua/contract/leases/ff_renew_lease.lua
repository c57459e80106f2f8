-- Extends a lease.
--   keys   core, lease:current, lease:history, lease_expiry
--   args   execution_id, attempt_index, attempt_id, lease_id, lease_epoch, lease_ttl_ms,
--          lease_history_grace_ms
--   reply  OK lease_expires_at
-- A renewal has no event.
server.register_function('ff_renew_lease', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, attempt_index, ttl_ms, grace_ms = ARGV[1], ARGV[2], ARGV[6], ARGV[7]
  local fence = {lease_id = ARGV[4], epoch = ARGV[5], attempt_id = ARGV[3]}

  local read = arguments.reader()
  local ttl = read:duration('lease_ttl_ms', ttl_ms)
  read:number('lease_history_grace_ms', grace_ms, 0, arguments.duration_max)
  if read.refused then return read.refused end
  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  refused = fencing.check(x, fence)
  if refused then return refused end
  if folded.index(x.f) ~= attempt_index then return reply.refuse('stale_lease') end

  execution.put(x, {
    lease_expires_at = x.now + ttl, lease_last_renewed_at = x.now, last_mutation_at = x.now,
    lease_renewal_deadline = x.now + claiming.renew_before(ttl),
  })
  execution.save(x)
  return reply.ok(tostring(x.f.lease_expires_at))
end)
