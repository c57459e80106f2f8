-- Registers a worker until its ttl is over, or again.
--   keys   workers
--   args   now, worker, lanes (joined by byte 30), capabilities (CSV), ttl_ms, workers_max, incarnation
--          (missing or empty: none)
--   reply  OK known draining (1 or 0 each) expires_at | worker_id_in_use held_until wait_ms

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
  local incarnation = ARGV[7] or ''

  local known = workers.find(key, name, now)
  if known and workers.is_taken(known, incarnation, now) then return workers.refuse_taken(known, now) end
  local expired = known and {} or find_room(key, now, workers_max)
  if not expired then return reply.refuse('resource_exhausted') end

  local worker = {
    lanes = lanes, capabilities = capabilities, ttl_ms = ttl_ms,
    draining = known and known.draining or '0',
    registered_at = known and known.registered_at or string.format('%.0f', now),
  }
  workers.see(worker, incarnation, now)
  -- A claim tells of lanes and capabilities; how long the worker lives its own registration says.
  if incarnation == '' and known and (known.incarnation or '') ~= '' then
    worker.incarnation, worker.held_until, worker.ttl_ms = known.incarnation, known.held_until, known.ttl_ms
    if tonumber(known.expires_at) > tonumber(worker.expires_at) then worker.expires_at = known.expires_at end
  end
  workers.forget_all(key, expired)
  workers.save(key, name, worker)
  return reply.ok(known and '1' or '0', worker.draining, worker.expires_at)
end)
