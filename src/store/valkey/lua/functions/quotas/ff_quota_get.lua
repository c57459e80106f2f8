-- A quota as it is stored.
--   keys   quota
--   args   now
--   reply  OK definition (a flat list) window_ms in_window running; if the window is full, also when it has
--          room
server.register_function{
  function_name = 'ff_quota_get',
  callback = function(KEYS, ARGV)
    local key, now = KEYS[1], arguments.now(ARGV[1])

    local q = quotas.load(key, now)
    if not q then return reply.refuse('quota_policy_not_found') end
    local in_window = quotas.count_in_window(key, now, q.window)
    local answer = reply.ok(server.call('HGETALL', key), tostring(q.window), tostring(in_window),
      server.call('GET', key .. ':concurrency') or '0')
    if q.rate and in_window >= q.rate then
      answer[#answer + 1] = string.format('%.0f',
        quotas.past_at(key, now, q.window, in_window - q.rate))
    end
    return answer
  end,
  flags = {'no-writes'},
}
