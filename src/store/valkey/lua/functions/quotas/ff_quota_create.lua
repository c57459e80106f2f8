-- Creates a quota.
--   keys   quota
--   args   now, has_room (for one more in the namespace; 1 or 0), namespace, window_ms, max_per_window,
--          max_concurrent (0: no limit), jitter_ms
--   reply  OK, or DUPLICATE if the same quota exists
local function is_same(q, fields)
  return quotas.namespace(q.key) == fields.namespace and q.window == tonumber(fields.window_ms)
    and (q.rate or 0) == tonumber(fields.max_requests_per_window)
    and (q.cap or 0) == tonumber(fields.active_concurrency_cap)
    and q.jitter == tonumber(fields.jitter_ms)
end

commands.register('ff_quota_create', function(KEYS, ARGV)
  local key, now, has_room = KEYS[1], arguments.now(ARGV[1]), ARGV[2] == '1'
  local fields = {
    namespace = ARGV[3], window_ms = ARGV[4], max_requests_per_window = ARGV[5],
    requests_per_window_seconds = string.format('%.14g', ARGV[4] / 1000),
    active_concurrency_cap = ARGV[6], jitter_ms = ARGV[7],
  }

  local existing = quotas.load(key, now)
  if existing then
    if is_same(existing, fields) then return {1, 'DUPLICATE'} end
    return reply.refuse('duplicate_mismatch')
  end
  if not has_room then return reply.refuse('resource_exhausted') end

  quotas.create(key, now, fields)
  return reply.ok()
end)
