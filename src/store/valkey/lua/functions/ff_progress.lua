-- KEYS: core. ARGV: now, origin, 3 lease_id, 4 lease_epoch, 5 attempt_id, 6 percent, 7 message; what is
-- empty stays as it was told before. Replies OK event.
commands.register('ff_progress', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, ARGV[3], ARGV[4], ARGV[5])
  if refused then return refused end
  execution.put(x, {progress_updated_at = x.now, last_mutation_at = x.now})
  if ARGV[6] ~= '' then execution.put(x, {progress_pct = ARGV[6]}) end
  if ARGV[7] ~= '' then execution.put(x, {progress_message = ARGV[7]}) end
  execution.save(x)
  return reply.ok(events.tell(x, 'progressed', ARGV[2]))
end)
