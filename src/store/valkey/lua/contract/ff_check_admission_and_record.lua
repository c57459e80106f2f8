-- Lets an execution start, or says why not. KEYS: 1 window, 2 concurrency, 3 definition, 4 admitted:…,
-- 5 admitted_set. ARGV: 1 now_ms, 2 window_seconds, 3 rate_limit, 4 concurrency_cap (0: no limit),
-- 5 execution_id, 6 jitter_ms. Replies ADMITTED, ALREADY_ADMITTED, RATE_EXCEEDED retry_ms or
-- CONCURRENCY_EXCEEDED, without a number before it. The limits are the caller's. An execution holds one
-- slot, however often it is let in.

-- As random as the microsecond: math.random begins anew with every call of a function.
local function jitter(most)
  return most > 0 and call('TIME')[2] * 7919 % (most + 1) or 0
end

local function refusal(key, now, want, execution_id)
  local window = quotas.window_key(key)
  quotas.forget_past(window, now, want.window)
  if want.rate > 0 and call('ZCARD', window) >= want.rate then
    local wait = math.max(0, quotas.past_at(window, want.window, 0) - now)
    return {'RATE_EXCEEDED', string.format('%.0f', wait + jitter(want.jitter))}
  end
  if want.cap > 0 and call('SISMEMBER', key .. ':admitted_set', execution_id) == 0
    and tonumber(call('GET', key .. ':concurrency') or 0) >= want.cap then
    return {'CONCURRENCY_EXCEEDED'}
  end
end

server.register_function('ff_check_admission_and_record', function(KEYS, ARGV)
  local read = arguments.reader()
  local key, execution_id = KEYS[3], ARGV[5]
  local now = read:time('now_ms', ARGV[1])
  local want = {
    window = quotas.read_window(read, ARGV[2]), rate = read:whole('rate_limit', ARGV[3], 0),
    cap = read:whole('concurrency_cap', ARGV[4], 0),
    jitter = read:optional_number('jitter_ms', ARGV[6], 0, arguments.duration_max) or 0,
  }
  read:text('execution_id', execution_id)
  admitting.check_key(read, quotas.parse, key, nil, 'KEYS[3]')
  if read.refused then return read.refused end
  local guard = key .. ':admitted:' .. execution_id
  if call('EXISTS', guard) == 1 then return {'ALREADY_ADMITTED'} end
  local refused = refusal(key, now, want, execution_id)
  if refused then return refused end

  call('ZADD', quotas.window_key(key), string.format('%.0f', now), execution_id)
  if want.window > 0 then call('SET', guard, '1', 'PX', string.format('%.0f', want.window)) end
  if want.cap > 0 and call('SADD', key .. ':admitted_set', execution_id) == 1 then
    call('INCR', key .. ':concurrency')
  end
  return {'ADMITTED'}
end)
