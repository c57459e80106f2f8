-- Removes a worker.
--   keys   workers
--   args   now (not used), worker
--   reply  OK
-- Safe to repeat.
commands.register('ff_worker_deregister', function(KEYS, ARGV)
  local key, name = KEYS[1], ARGV[2]

  workers.forget(key, name)
  return reply.ok()
end)
