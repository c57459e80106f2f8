-- Lets one start in. KEYS: quota. ARGV: 1 now, 2 token, 3 execution. Replies OK admitted and since when;
-- or OK rate, when the window has room, max_per_window, window_ms, jitter_ms; or OK concurrency
-- max_concurrent. Of a token that is in already the answer is that of the first time.
local function admitted_at(q, token)
  local holder = q.cap and call('HGET', q.key .. ':holders', token)
  if holder then return string.match(holder, ' (%d+)$') end
  local place = q.rate and call('ZSCORE', quotas.window_key(q.key), token)
  return place and string.format('%.0f', place)
end

local function refusal(q)
  if q.rate then
    local window = quotas.window_key(q.key)
    quotas.forget_past(window, q.now, q.window)
    if call('ZCARD', window) >= q.rate then
      return reply.ok('rate', string.format('%.0f', quotas.room_at(window, q.window)),
        tostring(q.rate), tostring(q.window), tostring(q.jitter))
    end
  end
  if q.cap and tonumber(call('GET', q.key .. ':concurrency') or 0) >= q.cap then
    return reply.ok('concurrency', tostring(q.cap))
  end
end

commands.register('ff_quota_admit', function(KEYS, ARGV)
  local q = quotas.load(KEYS[1], arguments.now(ARGV[1]))
  if not q then return reply.refuse('quota_not_found') end
  local token, at = ARGV[2], string.format('%.0f', q.now)
  local before = admitted_at(q, token)
  if before then return reply.ok('admitted', before) end
  local refused = refusal(q)
  if refused then return refused end

  if q.rate then call('ZADD', quotas.window_key(q.key), at, token) end
  if q.cap then
    call('HSET', q.key .. ':holders', token, ARGV[3] .. ' ' .. at)
    call('INCR', q.key .. ':concurrency')
  end
  return reply.ok('admitted', at)
end)
