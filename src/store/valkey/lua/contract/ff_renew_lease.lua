-- Pushes a lease's expiry out. KEYS: 1 core, 2 lease:current, 3 lease:history, 4 lease_expiry. ARGV:
-- 1 execution_id, 2 attempt_index, 3 attempt_id, 4 lease_id, 5 lease_epoch, 6 lease_ttl_ms,
-- 7 lease_history_grace_ms. Replies OK lease_expires_at. Nothing is told of a renewal.
server.register_function('ff_renew_lease', function(KEYS, ARGV)
  local read = arguments.reader()
  local ttl = read:duration('lease_ttl_ms', ARGV[6])
  read:number('lease_history_grace_ms', ARGV[7], 0, arguments.duration_max)
  if read.refused then return read.refused end
  local x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  refused = fencing.check(x, {lease_id = ARGV[4], epoch = ARGV[5], attempt_id = ARGV[3]})
  if refused then return refused end
  if x.f.current_attempt_index ~= ARGV[2] then return reply.refuse('stale_lease') end

  execution.put(x, {
    lease_expires_at = x.now + ttl, lease_last_renewed_at = x.now, last_mutation_at = x.now,
    lease_renewal_deadline = x.now + claiming.renew_before(ttl),
  })
  execution.save(x)
  return reply.ok(tostring(x.f.lease_expires_at))
end)
