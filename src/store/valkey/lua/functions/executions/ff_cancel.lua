-- Ends an execution that has not ended.
--   keys   core
--   args   now, origin, reason; if a worker asks, its fence: lease_id, lease_epoch, attempt_id
--   reply  OK event state
-- Cancelling a cancelled execution succeeds.
commands.register('ff_cancel', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, reason, lease_id, lease_epoch, attempt_id = unpack(ARGV)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local by_worker = lease_id ~= nil
  if x.f.terminal_outcome == 'cancelled' then
    local by_this_one = x.f.cancelled_by == 'worker'
      and leases.attempt_of(x, lease_id, lease_epoch, attempt_id)
    if not by_worker or by_this_one then return reply.ok('', 'cancelled') end
  end
  if by_worker then
    local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
    if refused then return refused end
  end
  if x.f.lifecycle_phase == 'terminal' then return leases.not_active(x) end

  ending.cancel(x, reason, by_worker and 'worker' or 'operator_override', true)
  execution.save(x)
  return reply.ok(events.tell(x, 'cancelled', origin), execution.reached(x))
end)
