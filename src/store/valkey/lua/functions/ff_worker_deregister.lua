-- Forgets a worker, if it is known. KEYS: workers. ARGV: 1 now, 2 worker. Replies OK.
commands.register('ff_worker_deregister', function(KEYS, ARGV)
  call('HDEL', KEYS[1], ARGV[2])
  return reply.ok()
end)
