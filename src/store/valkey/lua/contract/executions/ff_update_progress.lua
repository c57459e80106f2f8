-- Stores a worker's progress.
--   keys   core
--   args   execution_id, lease_id, lease_epoch, progress_pct, progress_message (empty: unchanged)
--   reply  OK
server.register_function('ff_update_progress', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, lease_id, epoch, progress_pct, message = unpack(ARGV)

  local read = arguments.reader()
  local percent = read:optional_number('progress_pct', progress_pct, 0, 255)
  if read.refused then return read.refused end
  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  if x.f.lifecycle_phase ~= 'active' then return contract.not_active(x) end
  refused = leases.check(x, lease_id, epoch, x.f.current_attempt_id)
  if refused then return refused end

  execution.put(x, {
    progress_pct = percent, progress_message = arguments.given(message),
    progress_updated_at = x.now, last_mutation_at = x.now,
  })
  contract.save(x, 'progressed')
  return reply.ok()
end)
