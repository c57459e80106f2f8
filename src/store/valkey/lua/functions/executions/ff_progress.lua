-- Stores a worker's progress.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, percent, message (empty: unchanged)
--   reply  OK event
commands.register('ff_progress', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, lease_id, lease_epoch, attempt_id, percent, message = unpack(ARGV)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
  if refused then return refused end

  execution.put(x, {progress_updated_at = x.now, last_mutation_at = x.now})
  if percent ~= '' then execution.put(x, {progress_pct = percent}) end
  if message ~= '' then execution.put(x, {progress_message = message}) end
  execution.save(x)
  return reply.ok(events.tell(x, 'progressed', origin))
end)
