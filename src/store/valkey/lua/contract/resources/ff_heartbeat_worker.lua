-- Keeps a worker registered.
--   keys   alive, caps
--   args   now_ms
--   reply  OK refreshed ttl_ms, or OK not_registered
server.register_function('ff_heartbeat_worker', function(KEYS, ARGV)
  local alive_key, caps_key, now_ms = KEYS[1], KEYS[2], ARGV[1]

  local read = arguments.reader()
  local now = read:time('now_ms', now_ms)
  if read.refused then return read.refused end
  local ttl = tonumber(server.call('HGET', caps_key, 'ttl_ms') or '')
  if not ttl or not (ttl >= 1 and ttl <= arguments.duration_max)
    or server.call('EXISTS', alive_key) == 0 then
    return reply.ok('not_registered')
  end

  ttl = math.floor(ttl)
  server.call('PEXPIRE', alive_key, ttl)
  server.call('HSET', caps_key, 'last_heartbeat_ms', now)
  server.call('PEXPIRE', caps_key, ttl)
  return reply.ok('refreshed', tostring(ttl))
end)
