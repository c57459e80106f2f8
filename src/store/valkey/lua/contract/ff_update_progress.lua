-- KEYS: 1 core. ARGV: 1 execution_id, 2 lease_id, 3 lease_epoch, 4 progress_pct, 5 progress_message; what
-- is empty stays as it was told before. Replies OK.
server.register_function('ff_update_progress', function(KEYS, ARGV)
  local read = arguments.reader()
  local percent = read:optional_number('progress_pct', ARGV[4], 0, 255)
  if read.refused then return read.refused end
  local x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  if x.f.lifecycle_phase ~= 'active' then return contract.not_active(x) end
  refused = leases.check(x, ARGV[2], ARGV[3], x.f.current_attempt_id)
  if refused then return refused end

  execution.put(x, {
    progress_pct = percent, progress_message = arguments.given(ARGV[5]),
    progress_updated_at = x.now, last_mutation_at = x.now,
  })
  contract.save(x, 'progressed')
  return reply.ok()
end)
