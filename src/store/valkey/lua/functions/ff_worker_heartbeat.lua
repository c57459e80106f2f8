-- Says that a worker is still there. KEYS: workers. ARGV: 1 now, 2 worker. Replies as ff_worker_register.
commands.register('ff_worker_heartbeat', function(KEYS, ARGV)
  local now = arguments.now(ARGV[1])
  local worker = workers.find(KEYS[1], ARGV[2], now)
  if not worker then return reply.refuse('worker_not_found') end
  workers.see(worker, now)
  workers.save(KEYS[1], ARGV[2], worker)
  return reply.ok('1', worker.draining, worker.expires_at)
end)
