-- Ends an execution that has not ended.
--   keys   core and 20 more, which all follow from it
--   args   execution_id, reason, source, lease_id, lease_epoch
--   reply  OK cancelled and the phase before
-- An operator, a flow and a timeout may cancel a leased execution; any other source must prove the lease,
-- and a lease that is given must be the running one. Repeated with the same lease, it replies as the first
-- time.
local needs_no_lease = {flow_cascade = true, system_timeout = true}

local function refusal(x, source, lease_id, epoch)
  local f = x.f
  if source == 'operator_override' then return nil end
  if f.lifecycle_phase == 'active' and f.ownership_state == 'lease_revoked' then
    return reply.refuse('lease_revoked')
  end
  if lease_id == nil or lease_id == '' then
    if f.lifecycle_phase ~= 'active' or needs_no_lease[source] then return nil end
    return reply.refuse('fence_required')
  end
  return fencing.check_lease(x, {
    lease_id = lease_id, epoch = epoch, attempt_id = f.current_attempt_id,
  })
end

server.register_function('ff_cancel_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, reason, source, lease_id, epoch = ARGV[1], ARGV[2] or '', ARGV[3] or '', ARGV[4], ARGV[5]

  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  local phase = x.f.lifecycle_phase
  if phase == 'terminal' then
    local fence = {lease_id = lease_id, epoch = epoch, attempt_id = x.f.current_attempt_id}
    local is_repeated = x.f.terminal_outcome == 'cancelled' and fencing.attempt_of(x, fence)
    return is_repeated and reply.ok('cancelled', 'active') or contract.not_active(x)
  end
  refused = refusal(x, source, lease_id, epoch)
  if refused then return refused end

  ending.cancel(x, reason, source ~= '' and source or x.id, source ~= 'flow_cascade')
  contract.save(x, 'cancelled')
  return reply.ok('cancelled', phase)
end)
