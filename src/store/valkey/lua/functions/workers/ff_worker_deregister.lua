-- Removes a worker, unless another incarnation has its id.
--   keys   workers
--   args   now, worker, incarnation (missing or empty: none)
--   reply  OK
-- Safe to repeat.
commands.register('ff_worker_deregister', function(KEYS, ARGV)
  local key, now, name, incarnation = KEYS[1], arguments.now(ARGV[1]), ARGV[2], ARGV[3]

  local worker = workers.find(key, name, now)
  if not (worker and workers.is_taken(worker, incarnation, now)) then workers.forget(key, name) end
  return reply.ok()
end)
