-- Removes a worker.
--   keys   workers
--   args   now, worker, incarnation (missing or empty: none)
--   reply  OK | worker_id_in_use held_until wait_ms
-- Safe to repeat.
commands.register('ff_worker_deregister', function(KEYS, ARGV)
  local key, now, name, incarnation = KEYS[1], arguments.now(ARGV[1]), ARGV[2], ARGV[3]

  local worker = workers.find(key, name, now)
  if worker and workers.is_taken(worker, incarnation, now) then return workers.refuse_taken(worker, now) end
  workers.forget(key, name)
  return reply.ok()
end)
