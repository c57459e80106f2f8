-- Creates a budget.
--   keys   definition, limits, usage, budget_resets, budget_policies
--   args   budget_id, scope_type, scope_id, enforcement_mode, on_hard_limit, on_soft_limit,
--          reset_interval_ms (0 or less: none), now_ms, dim_count, then that many dimensions, hard limits
--          and soft limits (0 or empty: none)
--   reply  OK budget_id, or ALREADY_SATISFIED budget_id
local function read_limit(read, name, text)
  if text == '' then return 0 end
  return read:whole(name, text, 0)
end

-- The limits as a flat list.
local function read_limits(read, ARGV)
  local first = 10
  local count = admitting.read_count(read, 'dim_count', ARGV, first, 3, 0)
  local limits, seen = {}, {}
  for i = first, first + count - 1 do
    local dimension = admitting.read_dimension(read, seen, ARGV[i])
    local hard = read_limit(read, 'hard_limit', ARGV[i + count])
    local soft = read_limit(read, 'soft_limit', ARGV[i + 2 * count])
    if dimension and hard and soft then
      for _, text in ipairs({
        'hard:' .. dimension, budgets.digits(hard), 'soft:' .. dimension, budgets.digits(soft),
      }) do
        limits[#limits + 1] = text
      end
    end
  end
  return limits
end

server.register_function('ff_create_budget', function(KEYS, ARGV)
  local key = KEYS[1]
  local id, scope_type, scope_id, enforcement_mode, on_hard_limit, on_soft_limit, interval_ms, now_ms =
    unpack(ARGV, 1, 8)

  local read = arguments.reader()
  admitting.check_key(read, budgets.parse, key, id or '', 'budget_id')
  if read.refused then return read.refused end
  if server.call('HGET', key, 'created_at') then
    server.call('SADD', keys.index(keys.tag_in(key), 'budget_policies'), id)
    return reply.already(id)
  end
  local interval = read:whole('reset_interval_ms', interval_ms, nil, arguments.duration_max)
  local now = read:time('now_ms', now_ms)
  local limits = read_limits(read, ARGV)
  if read.refused then return read.refused end

  budgets.tell_opening(budgets.create(key, now, {
    scope_type = scope_type, scope_id = scope_id, enforcement_mode = enforcement_mode,
    on_hard_limit = on_hard_limit, on_soft_limit = on_soft_limit,
    reset_interval_ms = budgets.digits(math.max(interval, 0)),
  }, limits))
  return reply.ok(id)
end)
