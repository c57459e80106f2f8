-- Creates a quota.
--   keys   definition, window, concurrency, admitted_set, quota_policies
--   args   quota_policy_id, window_seconds, max_requests_per_window, max_concurrent (0: no limit), now_ms
--   reply  OK id, or ALREADY_SATISFIED id
server.register_function('ff_create_quota_policy', function(KEYS, ARGV)
  local key = KEYS[1]
  local id, window_seconds, max_requests_per_window, max_concurrent, now_ms = unpack(ARGV)

  local read = arguments.reader()
  admitting.check_key(read, quotas.parse, key, id or '', 'quota_policy_id')
  if read.refused then return read.refused end
  if server.call('EXISTS', key) == 1 then
    server.call('SADD', keys.index(keys.tag_in(key), 'quota_policies'), id)
    return reply.already(id)
  end
  local window = quotas.read_window(read, window_seconds)
  local rate = read:whole('max_requests_per_window', max_requests_per_window, 0)
  local cap = read:whole('max_concurrent', max_concurrent, 0)
  local now = read:time('now_ms', now_ms)
  if read.refused then return read.refused end

  quotas.create(key, now, {
    requests_per_window_seconds = string.format('%.14g', window / 1000),
    max_requests_per_window = string.format('%.0f', rate),
    active_concurrency_cap = string.format('%.0f', cap),
  })
  return reply.ok(id)
end)
