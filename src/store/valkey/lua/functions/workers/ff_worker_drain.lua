-- Stops or resumes giving work to a worker.
--   keys   workers
--   args   now, worker, draining (1 or 0)
--   reply  OK worker and its record (lib/workers.lua)
commands.register('ff_worker_drain', function(KEYS, ARGV)
  local key, now, name, draining = KEYS[1], arguments.now(ARGV[1]), ARGV[2], ARGV[3]

  local worker = workers.find(key, name, now)
  if not worker then
    workers.forget(key, name)  -- it may have expired
    return reply.refuse('worker_not_found')
  end

  worker.draining = draining
  workers.save(key, name, worker)
  return reply.ok(name, unpack(workers.values(worker)))
end)
