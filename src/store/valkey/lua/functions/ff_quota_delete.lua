-- Removes a quota with all that belongs to it. KEYS: quota. ARGV: 1 now (not looked at). Replies OK.
commands.register('ff_quota_delete', function(KEYS)
  if call('EXISTS', KEYS[1]) == 0 then return reply.refuse('quota_policy_not_found') end
  quotas.remove(KEYS[1])
  return reply.ok()
end)
