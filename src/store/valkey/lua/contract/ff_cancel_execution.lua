-- Ends an execution that has not ended. KEYS: 1 core and 20 more, all of which follow from it. ARGV:
-- 1 execution_id, 2 reason, 3 source, 4 lease_id, 5 lease_epoch. Replies OK cancelled and the phase
-- before. An operator, a flow and a timeout may cancel what a worker has; whoever else must prove the
-- lease, and whoever shows a lease must hold it.
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
  local x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  local phase, source = x.f.lifecycle_phase, ARGV[3] or ''
  if phase == 'terminal' then return contract.not_active(x) end
  refused = refusal(x, source, ARGV[4], ARGV[5])
  if refused then return refused end

  ending.cancel(x, ARGV[2] or '', source ~= '' and source or x.id, source ~= 'flow_cascade')
  contract.save(x, 'cancelled')
  return reply.ok('cancelled', phase)
end)
