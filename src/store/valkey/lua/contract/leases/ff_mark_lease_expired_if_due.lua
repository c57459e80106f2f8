-- Marks a lease that ran out, so that another worker may have the execution.
--   keys   core, lease:current, lease_expiry, lease:history
--   args   execution_id
--   reply  OK marked_expired, or ALREADY_SATISFIED and why not
local function nothing_to_mark(x)
  local f = x.f
  if f.lifecycle_phase ~= 'active' then return 'not_active' end
  if f.ownership_state == 'lease_expired_reclaimable' then return 'already_expired' end
  if f.ownership_state == 'lease_revoked' then return 'already_revoked' end
  if f.ownership_state ~= 'leased' then return 'unowned' end
  if not fencing.is_due(x) then return 'not_yet_expired' end
end

server.register_function('ff_mark_lease_expired_if_due', function(KEYS, ARGV)
  local core_key, execution_id = KEYS[1], ARGV[1]

  local tag, id = contract.identify(core_key, execution_id)
  if not tag then return id end
  local lease_expiry = keys.index(tag, 'lease_expiry')
  local x = contract.find(core_key)
  if not x then
    server.call('ZREM', lease_expiry, id)
    return reply.already('execution_not_found')
  end
  local why = nothing_to_mark(x)
  if why then
    contract.clean(x, lease_expiry)
    return reply.already(why)
  end
  fencing.expire(x)
  return reply.ok('marked_expired')
end)
