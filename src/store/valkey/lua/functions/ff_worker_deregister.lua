-- Forgets a worker. KEYS: workers. ARGV: 1 now (not looked at), 2 worker. Safe to repeat. Replies OK.
commands.register('ff_worker_deregister', function(KEYS, ARGV)
  call('HDEL', KEYS[1], ARGV[2])
  return reply.ok()
end)
