-- Gives back what a start holds: its slot, and if there was no start its place in the window, too. KEYS:
-- quota. ARGV: 1 now (not looked at), 2 token, 3 whether there was no start (1 or 0). Only the first one
-- changes anything. Replies OK.
commands.register('ff_quota_release', function(KEYS, ARGV)
  local key, token = KEYS[1], ARGV[2]
  local freed = call('HDEL', key .. ':holders', token) == 1
  if freed then quotas.give_slot_back(key) end
  if ARGV[3] == '1' then
    -- Who had a slot and has none any more has been here before.
    local released_before = not freed
      and (tonumber(call('HGET', key, 'active_concurrency_cap') or 0) or 0) > 0
    if not released_before and call('ZREM', quotas.window_key(key), token) == 1 then freed = true end
  end
  if freed then quotas.tell_opening(key) end
  return reply.ok()
end)
