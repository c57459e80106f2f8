-- Proof of a lease: (lease_id, lease_epoch, attempt_id), all three or none.
local fencing = {}

local function is_given(text)
  return text ~= nil and text ~= ''
end

local function count_given(fence)
  local count = 0
  for _, part in ipairs({'lease_id', 'epoch', 'attempt_id'}) do
    if is_given(fence[part]) then count = count + 1 end
  end
  return count
end

function fencing.is_due(x)
  return x.f.ownership_state == 'leased' and tonumber(x.f.lease_expires_at or 0) <= x.now
end

-- The lease ran out: another worker may have the execution.
function fencing.expire(x)
  leases.lose(x, 'lease_expired_reclaimable')
  execution.put(x, {blocking_detail = 'lease expired, awaiting reclaim'})
  contract.save(x, 'lease_expired')
end

-- Refuses a fence that is not that of the running lease. A lease that is found to have run out is marked so.
function fencing.check_lease(x, fence)
  if x.f.lifecycle_phase ~= 'active' then return contract.not_active(x) end
  if not fencing.is_due(x) then
    return leases.check(x, fence.lease_id, fence.epoch, fence.attempt_id)
  end
  fencing.expire(x)
  return reply.refuse('lease_expired')
end

-- The same after a look at the fence's shape. Without a fence only an operator is let through, to
-- whatever lease there is.
function fencing.check(x, fence, source)
  local given = count_given(fence)
  if given == 0 and source == 'operator_override' then
    return fencing.check_lease(x, {
      lease_id = x.f.current_lease_id, epoch = x.f.current_lease_epoch,
      attempt_id = x.f.current_attempt_id,
    })
  end
  if given == 0 then return reply.refuse('fence_required') end
  if given < 3 then return reply.refuse('partial_fence_triple') end
  return fencing.check_lease(x, fence)
end

-- As leases.attempt_of.
function fencing.attempt_of(x, fence, ...)
  return leases.attempt_of(x, fence.lease_id, fence.epoch, fence.attempt_id, ...)
end

return fencing
