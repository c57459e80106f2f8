-- Makes a budget. KEYS: budget. ARGV: 1 now, 2 whether the namespace may have one more (1 or 0),
-- 3 namespace, 4 scope_type, 5 scope_id, 6 enforcement, 7 on_hard_limit, 8 on_soft_limit,
-- 9 reset_interval_ms (empty: none), 10… limits: hard:DIMENSION or soft:DIMENSION, amount. Replies OK, or
-- DUPLICATE if there is one just like this.
local compared = {
  'scope_type', 'scope_id', 'enforcement_mode', 'on_hard_limit', 'on_soft_limit',
}

local function is_same(b, fields, limits)
  if budgets.namespace(b) ~= fields.namespace
    or (tonumber(b.f.reset_interval_ms) or 0) ~= tonumber(fields.reset_interval_ms) then
    return false
  end
  for _, field in ipairs(compared) do
    if (b.f[field] or '') ~= fields[field] then return false end
  end
  local stored, count = {}, 0
  local flat = call('HGETALL', b.key .. ':limits')
  for i = 1, #flat, 2 do
    local limit = tonumber(flat[i + 1])
    if limit and limit > 0 then stored[flat[i]], count = limit, count + 1 end
  end
  for i = 1, #limits, 2 do
    if stored[limits[i]] ~= tonumber(limits[i + 1]) then return false end
  end
  return count == #limits / 2
end

commands.register('ff_budget_create', function(KEYS, ARGV)
  local now = arguments.now(ARGV[1])
  local fields = {
    namespace = ARGV[3], scope_type = ARGV[4], scope_id = ARGV[5], enforcement_mode = ARGV[6],
    on_hard_limit = ARGV[7], on_soft_limit = ARGV[8],
    reset_interval_ms = arguments.given(ARGV[9]) or '0',
  }
  local limits = {unpack(ARGV, 10)}
  local existing = budgets.load(KEYS[1], now)
  if existing then
    if is_same(existing, fields, limits) then return {1, 'DUPLICATE'} end
    return reply.refuse('duplicate_mismatch')
  end
  if ARGV[2] ~= '1' then return reply.refuse('resource_exhausted') end
  budgets.create(KEYS[1], now, fields, limits)
  return reply.ok()
end)
