-- Admits one start.
--   keys   quota
--   args   now, token, execution_id
--   reply  OK admitted and since when; or OK rate, when the window has room, max_per_window, window_ms,
--          jitter_ms; or OK concurrency max_concurrent
-- A token that is admitted already gets the reply of the first time.

-- When the window has room; nil if it has. Past starts are ignored only once the window looks full.
local function opens_at(q)
  if not q.rate or server.call('ZCARD', quotas.window_key(q.key)) < q.rate then return nil end
  q.ignores_past = true
  local count = quotas.count_in_window(q.key, q.now, q.window)
  if count < q.rate then return nil end
  return quotas.past_at(q.key, q.now, q.window, count - q.rate)
end

local function refusal(q)
  local at = opens_at(q)
  if at then
    return reply.ok('rate', string.format('%.0f', at), tostring(q.rate), tostring(q.window),
      tostring(q.jitter))
  end
  if q.cap and tonumber(server.call('GET', q.key .. ':concurrency') or 0) >= q.cap then
    return reply.ok('concurrency', tostring(q.cap))
  end
end

local function admitted_at(q, token)
  local holder = q.cap and server.call('HGET', q.key .. ':holders', token)
  if holder then return string.match(holder, ' (%d+)$') end
  local at = q.rate and tonumber(server.call('ZSCORE', quotas.window_key(q.key), token))
  if not at or q.ignores_past and at <= q.now - q.window then return nil end
  return string.format('%.0f', at)
end

-- False if the token was in already; then nothing is written.
local function record(q, token, execution_id, at)
  if q.cap and q.rate and admitted_at(q, token) then return false end  -- released, and still in the window
  if q.cap then
    local holder = execution_id .. ' ' .. at
    if server.call('HSETNX', q.key .. ':holders', token, holder) == 0 then return false end
    server.call('INCR', q.key .. ':concurrency')
  end
  if not q.rate then return true end
  if q.ignores_past then quotas.forget_past(q.key, q.now, q.window) end
  return server.call('ZADD', quotas.window_key(q.key), 'NX', at, token) == 1
end

commands.register('ff_quota_admit', function(KEYS, ARGV)
  local key, now, token, execution_id = KEYS[1], arguments.now(ARGV[1]), ARGV[2], ARGV[3]

  local q = quotas.load(key, now)
  if not q then return reply.refuse('quota_policy_not_found') end
  local at = string.format('%.0f', now)
  local refused = refusal(q)
  if not refused and record(q, token, execution_id, at) then return reply.ok('admitted', at) end
  local before = admitted_at(q, token)
  return before and reply.ok('admitted', before) or refused
end)
