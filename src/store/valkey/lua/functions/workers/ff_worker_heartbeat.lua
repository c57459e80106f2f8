-- Keeps a worker registered.
--   keys   workers
--   args   now, worker, incarnation (missing or empty: none)
--   reply  as ff_worker_register
commands.register('ff_worker_heartbeat', function(KEYS, ARGV)
  local key, now, name = KEYS[1], arguments.now(ARGV[1]), ARGV[2]

  local worker = workers.find(key, name, now)
  if not worker then
    workers.forget(key, name)  -- it may have expired
    return reply.refuse('worker_not_found')
  end
  if workers.is_taken(worker, ARGV[3], now) then return workers.refuse_taken(worker, now) end

  workers.see(worker, ARGV[3] or '', now)
  workers.save(key, name, worker)
  return reply.ok('1', worker.draining, worker.expires_at)
end)
