-- Forgets a worker. KEYS: workers. ARGV: 1 now, 2 worker. Replies OK.
commands.register('ff_worker_deregister', function(KEYS, ARGV)
  local worker = workers.find(KEYS[1], ARGV[2], arguments.now(ARGV[1]))
  if not worker then return reply.refuse('worker_not_found') end
  call('HDEL', KEYS[1], ARGV[2])
  return reply.ok()
end)
