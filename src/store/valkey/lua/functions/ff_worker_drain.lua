-- Gives a worker no more work, or work again. KEYS: workers. ARGV: 1 now, 2 worker, 3 draining (1 or 0).
-- Replies OK worker and its record (lib/workers.lua).
commands.register('ff_worker_drain', function(KEYS, ARGV)
  local worker = workers.find(KEYS[1], ARGV[2], arguments.now(ARGV[1]))
  if not worker then return reply.refuse('worker_not_found') end
  worker.draining = ARGV[3]
  workers.save(KEYS[1], ARGV[2], worker)
  return reply.ok(ARGV[2], unpack(workers.values(worker)))
end)
