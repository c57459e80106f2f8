-- Registers a worker until its ttl is over.
--   keys   alive, caps, index of workers; in a cluster their names share a hash tag
--   args   instance_id, worker_id, lanes (CSV), capabilities (CSV), ttl_ms, now_ms
--   reply  OK registered, or OK refreshed if it was known
server.register_function('ff_register_worker', function(KEYS, ARGV)
  local alive_key, caps_key, index_key = KEYS[1], KEYS[2], KEYS[3]
  local instance, worker, lanes, capabilities, ttl_ms, now_ms = unpack(ARGV)

  local read = arguments.reader()
  local ttl = read:duration('ttl_ms', ttl_ms)
  local now = read:time('now_ms', now_ms)
  read:text('instance_id', instance)
  read:text('worker_id', worker)
  if read.refused then return read.refused end

  local known = server.call('EXISTS', alive_key) == 1
  server.call('SADD', index_key, instance)
  server.call('SET', alive_key, '1', 'PX', ttl)
  server.call('DEL', caps_key)
  server.call('HSET', caps_key, 'worker_id', worker, 'lanes_csv', lanes or '', 'caps_csv',
    capabilities or '', 'ttl_ms', ttl, 'registered_at_ms', now, 'last_heartbeat_ms', now)
  server.call('PEXPIRE', caps_key, ttl)
  return reply.ok(known and 'refreshed' or 'registered')
end)
