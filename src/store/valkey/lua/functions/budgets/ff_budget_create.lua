-- Creates a budget.
--   keys   budget
--   args   now, has_room (for one more in the namespace; 1 or 0), namespace, scope_type, scope_id,
--          enforcement, on_hard_limit, on_soft_limit, reset_interval_ms (empty: none), then the limits:
--          hard:DIMENSION or soft:DIMENSION, amount
--   reply  OK, or DUPLICATE if the same budget exists
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
  local flat = server.call('HGETALL', b.key .. ':limits')
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
  local key, now, has_room = KEYS[1], arguments.now(ARGV[1]), ARGV[2] == '1'
  local fields = {
    namespace = ARGV[3], scope_type = ARGV[4], scope_id = ARGV[5], enforcement_mode = ARGV[6],
    on_hard_limit = ARGV[7], on_soft_limit = ARGV[8],
    reset_interval_ms = arguments.given(ARGV[9]) or '0',
  }
  local limits = {unpack(ARGV, 10)}

  local existing = budgets.load(key, now)
  if existing then
    if is_same(existing, fields, limits) then return {1, 'DUPLICATE'} end
    return reply.refuse('duplicate_mismatch')
  end
  if not has_room then return reply.refuse('resource_exhausted') end

  budgets.tell_opening(budgets.create(key, now, fields, limits))
  return reply.ok()
end)
