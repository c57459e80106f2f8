-- Returns what a start holds: its slot; if it was not used, also its place in the window.
--   keys   quota
--   args   now (not used), token, was_unused (1 or 0)
--   reply  OK
-- Only the first call of a token changes anything.
commands.register('ff_quota_release', function(KEYS, ARGV)
  local key, token, was_unused = KEYS[1], ARGV[2], ARGV[3] == '1'

  local freed = server.call('HDEL', key .. ':holders', token) == 1
  if freed then quotas.give_slot_back(key) end
  if was_unused then
    -- With a cap every admitted token holds a slot: one that holds none was released before.
    local released_before = not freed
      and (tonumber(server.call('HGET', key, 'active_concurrency_cap') or 0) or 0) > 0
    if not released_before and server.call('ZREM', quotas.window_key(key), token) == 1 then
      freed = true
    end
  end
  if freed then quotas.tell_opening(key) end
  return reply.ok()
end)
