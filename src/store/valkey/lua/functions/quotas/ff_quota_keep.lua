-- Makes sure that a quota exists and that it lets so many run at once: the limit of a fairness key.
--   keys   quota
--   args   now, has_room (for one more in the namespace; 1 or 0), namespace, max_concurrent
--   reply  OK
commands.register('ff_quota_keep', function(KEYS, ARGV)
  local key, now, has_room, namespace, max = KEYS[1], arguments.now(ARGV[1]), ARGV[2] == '1', ARGV[3], ARGV[4]

  local existing = quotas.load(key, now)
  if existing and existing.cap == tonumber(max) then return reply.ok() end
  if existing then
    server.call('HSET', key, 'active_concurrency_cap', max)
    quotas.tell_opening(key)
    return reply.ok()
  end
  if not has_room then return reply.refuse('resource_exhausted') end
  quotas.create(key, now, {
    namespace = namespace, window_ms = '60000', max_requests_per_window = '0', requests_per_window_seconds = '60',
    active_concurrency_cap = max, jitter_ms = '0',
  })
  return reply.ok()
end)
