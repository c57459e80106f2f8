-- Makes a worker known until its ttl is over, or anew. KEYS: workers. ARGV: 1 now, 2 worker, 3 lanes
-- (joined by byte 30), 4 capabilities (CSV), 5 ttl_ms, 6 how many there may be. Replies OK whether it was
-- known and whether it is draining (1 or 0), expires_at.
commands.register('ff_worker_register', function(KEYS, ARGV)
  local key, name, now, most = KEYS[1], ARGV[2], arguments.now(ARGV[1]), tonumber(ARGV[6])
  local known = workers.find(key, name, now)
  if not known and call('HLEN', key) >= most and workers.count(key, now) >= most then
    return reply.refuse('resource_exhausted')
  end
  local worker = {
    lanes = ARGV[3], capabilities = ARGV[4], ttl_ms = ARGV[5],
    draining = known and known.draining or '0',
    registered_at = known and known.registered_at or string.format('%.0f', now),
  }
  workers.see(worker, now)
  workers.save(key, name, worker)
  return reply.ok(known and '1' or '0', worker.draining, worker.expires_at)
end)
