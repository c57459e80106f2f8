-- Removes a quota with everything that belongs to it.
--   keys   quota
--   args   now (not used)
--   reply  OK
commands.register('ff_quota_delete', function(KEYS)
  local key = KEYS[1]

  if server.call('EXISTS', key) == 0 then return reply.refuse('quota_policy_not_found') end

  quotas.remove(key)
  return reply.ok()
end)
