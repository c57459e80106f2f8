-- Makes a worker known until its ttl is over. KEYS: 1 alive, 2 caps, 3 index of workers; in a cluster
-- their names share a hash tag. ARGV: 1 instance_id, 2 worker_id, 3 lanes (CSV), 4 capabilities (CSV),
-- 5 ttl_ms, 6 now_ms. Replies OK registered, or OK refreshed if it was known.
server.register_function('ff_register_worker', function(KEYS, ARGV)
  local read = arguments.reader()
  local ttl = read:duration('ttl_ms', ARGV[5])
  local now = read:time('now_ms', ARGV[6])
  read:text('instance_id', ARGV[1])
  read:text('worker_id', ARGV[2])
  if read.refused then return read.refused end

  local known = call('EXISTS', KEYS[1]) == 1
  call('SADD', KEYS[3], ARGV[1])
  call('SET', KEYS[1], '1', 'PX', ttl)
  call('DEL', KEYS[2])
  call('HSET', KEYS[2], 'worker_id', ARGV[2], 'lanes_csv', ARGV[3] or '', 'caps_csv', ARGV[4] or '',
    'ttl_ms', ttl, 'registered_at_ms', now, 'last_heartbeat_ms', now)
  call('PEXPIRE', KEYS[2], ttl)
  return reply.ok(known and 'refreshed' or 'registered')
end)
