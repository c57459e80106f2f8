-- Admits the start of an execution, or says why not.
--   keys   window, concurrency, definition, admitted:…, admitted_set
--   args   now_ms, window_seconds, rate_limit, concurrency_cap (0: no limit), execution_id, jitter_ms
--   reply  ADMITTED, ALREADY_ADMITTED, RATE_EXCEEDED retry_ms or CONCURRENCY_EXCEEDED, without a number
--          before it
-- The limits are the caller's. An execution holds one slot, however often it is admitted.

-- As random as the microsecond: math.random starts from the same seed in every call of a function.
local function jitter(most)
  return most > 0 and server.call('TIME')[2] * 7919 % (most + 1) or 0
end

local function refusal(key, now, want, execution_id)
  if want.rate > 0 and quotas.count_in_window(key, now, want.window) >= want.rate then
    local wait = math.max(0, quotas.past_at(key, now, want.window, 0) - now)
    return {'RATE_EXCEEDED', string.format('%.0f', wait + jitter(want.jitter))}
  end
  if want.cap > 0 and server.call('SISMEMBER', key .. ':admitted_set', execution_id) == 0
    and tonumber(server.call('GET', key .. ':concurrency') or 0) >= want.cap then
    return {'CONCURRENCY_EXCEEDED'}
  end
end

server.register_function('ff_check_admission_and_record', function(KEYS, ARGV)
  local key = KEYS[3]
  local now_ms, window_seconds, rate_limit, concurrency_cap, execution_id, jitter_ms = unpack(ARGV)

  local read = arguments.reader()
  local now = read:time('now_ms', now_ms)
  local want = {
    window = quotas.read_window(read, window_seconds), rate = read:whole('rate_limit', rate_limit, 0),
    cap = read:whole('concurrency_cap', concurrency_cap, 0),
    jitter = read:optional_number('jitter_ms', jitter_ms, 0, arguments.duration_max) or 0,
  }
  read:text('execution_id', execution_id)
  admitting.check_key(read, quotas.parse, key, nil, 'KEYS[3]')
  if read.refused then return read.refused end
  local guard = key .. ':admitted:' .. execution_id
  if server.call('EXISTS', guard) == 1 then return {'ALREADY_ADMITTED'} end
  local refused = refusal(key, now, want, execution_id)
  if refused then return refused end

  quotas.forget_past(key, now, want.window)
  server.call('ZADD', quotas.window_key(key), string.format('%.0f', now), execution_id)
  if want.window > 0 then server.call('SET', guard, '1', 'PX', string.format('%.0f', want.window)) end
  if want.cap > 0 and server.call('SADD', key .. ':admitted_set', execution_id) == 1 then
    server.call('INCR', key .. ':concurrency')
  end
  return {'ADMITTED'}
end)
