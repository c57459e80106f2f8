-- Registers a worker until its ttl is over, or again.
--   keys   workers
--   args   now, worker, lanes (joined by byte 30), capabilities (CSV), ttl_ms, workers_max
--   reply  OK known draining (1 or 0 each) expires_at

-- The expired workers to remove for one more; nil if there is no room for it.
local function find_room(key, now, workers_max)
  if server.call('HLEN', key) < workers_max then return {} end
  local alive = 0
  local expired = workers.each(key, now, function() alive = alive + 1 end)
  return alive < workers_max and expired or nil
end

commands.register('ff_worker_register', function(KEYS, ARGV)
  local key, now, name = KEYS[1], arguments.now(ARGV[1]), ARGV[2]
  local lanes, capabilities, ttl_ms, workers_max = ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])

  local known = workers.find(key, name, now)
  local expired = known and {} or find_room(key, now, workers_max)
  if not expired then return reply.refuse('resource_exhausted') end

  local worker = {
    lanes = lanes, capabilities = capabilities, ttl_ms = ttl_ms,
    draining = known and known.draining or '0',
    registered_at = known and known.registered_at or string.format('%.0f', now),
  }
  workers.see(worker, now)
  workers.forget_all(key, expired)
  workers.save(key, name, worker)
  return reply.ok(known and '1' or '0', worker.draining, worker.expires_at)
end)
