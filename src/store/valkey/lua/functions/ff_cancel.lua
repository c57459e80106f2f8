-- Ends an execution that has not ended. KEYS: core. ARGV: now, origin, 3 reason, then, if a worker asks,
-- its fence: 4 lease_id, 5 lease_epoch, 6 attempt_id. Replies OK event state. Cancelling what is
-- cancelled already succeeds.
commands.register('ff_cancel', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local by_worker = ARGV[4] ~= nil
  if x.f.terminal_outcome == 'cancelled' then
    local by_this_one = x.f.cancelled_by == 'worker'
      and leases.attempt_of(x, ARGV[4], ARGV[5], ARGV[6])
    if not by_worker or by_this_one then return reply.ok('', 'cancelled') end
  end
  if by_worker then
    local refused = leases.check(x, ARGV[4], ARGV[5], ARGV[6])
    if refused then return refused end
  end
  if x.f.lifecycle_phase == 'terminal' then return leases.not_active(x) end

  ending.cancel(x, ARGV[3], by_worker and 'worker' or 'operator_override', true)
  execution.save(x)
  return reply.ok(events.tell(x, 'cancelled', ARGV[2]), x.f.public_state)
end)
