-- Pushes a lease's expiry out. KEYS: core. ARGV: now, origin, 3 lease_id, 4 lease_epoch, 5 attempt_id,
-- 6 lease_ttl_ms. Replies OK '' lease_expires_at timer due: nothing is told of a renewal.
commands.register('ff_renew', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, ARGV[3], ARGV[4], ARGV[5])
  if refused then return refused end
  execution.put(x, {
    lease_expires_at = x.now + tonumber(ARGV[6]), lease_last_renewed_at = x.now,
    last_mutation_at = x.now,
  })
  execution.save(x)
  local timer, due = timers.next(x.f)
  return reply.ok('', tostring(x.f.lease_expires_at), timer, tostring(due))
end)
