-- Makes a quota. KEYS: 1 definition, 2 window, 3 concurrency, 4 admitted_set, 5 quota_policies. ARGV:
-- 1 quota_policy_id, 2 window_seconds, 3 max_requests_per_window, 4 max_concurrent (0: no limit),
-- 5 now_ms. Replies OK id, or ALREADY_SATISFIED id.
server.register_function('ff_create_quota_policy', function(KEYS, ARGV)
  local read = arguments.reader()
  admitting.check_key(read, quotas.parse, KEYS[1], ARGV[1] or '', 'quota_policy_id')
  if read.refused then return read.refused end
  local tag, id = quotas.parse(KEYS[1])
  if call('EXISTS', KEYS[1]) == 1 then
    call('SADD', keys.index(tag, 'quota_policies'), id)
    return reply.already(id)
  end
  local window = quotas.read_window(read, ARGV[2])
  local rate = read:whole('max_requests_per_window', ARGV[3], 0)
  local cap = read:whole('max_concurrent', ARGV[4], 0)
  local now = read:time('now_ms', ARGV[5])
  if read.refused then return read.refused end

  quotas.create(KEYS[1], now, {
    requests_per_window_seconds = string.format('%.14g', window / 1000),
    max_requests_per_window = string.format('%.0f', rate),
    active_concurrency_cap = string.format('%.0f', cap),
  })
  return reply.ok(id)
end)
