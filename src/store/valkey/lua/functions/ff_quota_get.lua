-- A quota as it is. KEYS: quota. ARGV: 1 now. Replies OK definition (a flat list) window_ms in_window
-- running and, if the window is full, when it has room.
server.register_function{
  function_name = 'ff_quota_get',
  callback = function(KEYS, ARGV)
    local key = KEYS[1]
    local q = quotas.load(key, arguments.now(ARGV[1]))
    if not q then return reply.refuse('quota_policy_not_found') end
    local window = quotas.window_key(key)
    local from = '(' .. string.format('%.0f', q.now - q.window)
    local in_window = call('ZCOUNT', window, from, '+inf')
    local answer = reply.ok(call('HGETALL', key), tostring(q.window), tostring(in_window),
      call('GET', key .. ':concurrency') or '0')
    if q.rate and in_window >= q.rate then
      local oldest = call('ZRANGEBYSCORE', window, from, '+inf', 'WITHSCORES', 'LIMIT',
        in_window - q.rate, 1)
      answer[#answer + 1] = string.format('%.0f', oldest[2] + q.window)
    end
    return answer
  end,
  flags = {'no-writes'},
}
