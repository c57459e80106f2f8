-- Makes a quota. KEYS: quota. ARGV: 1 now, 2 whether the namespace may have one more (1 or 0),
-- 3 namespace, 4 window_ms, 5 max_per_window, 6 max_concurrent (0: no limit), 7 jitter_ms. Replies OK, or
-- DUPLICATE if there is one just like this.
local function is_same(key, q, ARGV)
  return quotas.namespace(key) == ARGV[3] and q.window == tonumber(ARGV[4])
    and (q.rate or 0) == tonumber(ARGV[5]) and (q.cap or 0) == tonumber(ARGV[6])
    and q.jitter == tonumber(ARGV[7])
end

commands.register('ff_quota_create', function(KEYS, ARGV)
  local now = arguments.now(ARGV[1])
  local existing = quotas.load(KEYS[1], now)
  if existing then
    if is_same(KEYS[1], existing, ARGV) then return {1, 'DUPLICATE'} end
    return reply.refuse('duplicate_mismatch')
  end
  if ARGV[2] ~= '1' then return reply.refuse('resource_exhausted') end
  quotas.create(KEYS[1], now, {
    namespace = ARGV[3], window_ms = ARGV[4], max_requests_per_window = ARGV[5],
    requests_per_window_seconds = string.format('%.14g', ARGV[4] / 1000),
    active_concurrency_cap = ARGV[6], jitter_ms = ARGV[7],
  })
  return reply.ok()
end)
