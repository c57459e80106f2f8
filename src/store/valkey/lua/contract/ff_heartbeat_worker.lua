-- Says that a worker is still there. KEYS: 1 alive, 2 caps. ARGV: 1 now_ms. Replies OK refreshed ttl_ms,
-- or OK not_registered.
server.register_function('ff_heartbeat_worker', function(KEYS, ARGV)
  local read = arguments.reader()
  local now = read:time('now_ms', ARGV[1])
  if read.refused then return read.refused end
  local ttl = tonumber(call('HGET', KEYS[2], 'ttl_ms') or '')
  if not ttl or not (ttl >= 1 and ttl <= arguments.duration_max)
    or call('EXISTS', KEYS[1]) == 0 then
    return reply.ok('not_registered')
  end
  ttl = math.floor(ttl)
  call('PEXPIRE', KEYS[1], ttl)
  call('HSET', KEYS[2], 'last_heartbeat_ms', now)
  call('PEXPIRE', KEYS[2], ttl)
  return reply.ok('refreshed', tostring(ttl))
end)
