-- Lets one start in. KEYS: quota. ARGV: 1 now, 2 token, 3 execution. Replies OK admitted and since when;
-- or OK rate, when the window has room, max_per_window, window_ms, jitter_ms; or OK concurrency
-- max_concurrent. Of a token that is in already the answer is that of the first time.
local function admitted_at(q, token)
  local holder = q.cap and call('HGET', q.key .. ':holders', token)
  if holder then return string.match(holder, ' (%d+)$') end
  local place = q.rate and call('ZSCORE', quotas.window_key(q.key), token)
  return place and string.format('%.0f', place)
end

-- By how many the window is overfull (0: just full); nil if it has room. What is past is forgotten only
-- when it stands in the way.
local function excess(q, window)
  if call('ZCARD', window) < q.rate then return nil end
  quotas.forget_past(window, q.now, q.window)
  local count = call('ZCARD', window)
  return count >= q.rate and count - q.rate or nil
end

local function refusal(q)
  if q.rate then
    local window = quotas.window_key(q.key)
    local index = excess(q, window)
    if index then
      return reply.ok('rate', string.format('%.0f', quotas.past_at(window, q.window, index)),
        tostring(q.rate), tostring(q.window), tostring(q.jitter))
    end
  end
  if q.cap and tonumber(call('GET', q.key .. ':concurrency') or 0) >= q.cap then
    return reply.ok('concurrency', tostring(q.cap))
  end
end

-- False if the token was in already.
local function record(q, token, execution_id, at)
  if q.cap then
    if call('HSETNX', q.key .. ':holders', token, execution_id .. ' ' .. at) == 0 then return false end
    call('INCR', q.key .. ':concurrency')
  end
  return not q.rate or call('ZADD', quotas.window_key(q.key), 'NX', at, token) == 1
end

commands.register('ff_quota_admit', function(KEYS, ARGV)
  local q = quotas.load(KEYS[1], arguments.now(ARGV[1]))
  if not q then return reply.refuse('quota_policy_not_found') end
  local token, at = ARGV[2], string.format('%.0f', q.now)
  local refused = refusal(q)
  if not refused and record(q, token, ARGV[3], at) then return reply.ok('admitted', at) end
  local before = admitted_at(q, token)
  return before and reply.ok('admitted', before) or refused
end)
