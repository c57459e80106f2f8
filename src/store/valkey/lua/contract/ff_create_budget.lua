-- Makes a budget. KEYS: 1 definition, 2 limits, 3 usage, 4 budget_resets, 5 budget_policies. ARGV:
-- 1 budget_id, 2 scope_type, 3 scope_id, 4 enforcement_mode, 5 on_hard_limit, 6 on_soft_limit,
-- 7 reset_interval_ms (0 or less: none), 8 now_ms, 9 dim_count, then that many dimensions, hard limits and
-- soft limits (0 or empty: none). Replies OK budget_id, or ALREADY_SATISFIED budget_id.
local function read_limit(read, name, text)
  if text == '' then return 0 end
  return read:whole(name, text, 0)
end

server.register_function('ff_create_budget', function(KEYS, ARGV)
  local read = arguments.reader()
  admitting.check_key(read, budgets.parse, KEYS[1], ARGV[1] or '', 'budget_id')
  if read.refused then return read.refused end
  local tag, id = budgets.parse(KEYS[1])
  if call('HGET', KEYS[1], 'created_at') then
    call('SADD', keys.index(tag, 'budget_policies'), id)
    return reply.already(id)
  end
  local interval = read:whole('reset_interval_ms', ARGV[7], nil, arguments.duration_max)
  local now = read:time('now_ms', ARGV[8])
  local count = admitting.read_count(read, 'dim_count', ARGV, 10, 3, 0)
  local limits, seen = {}, {}
  for i = 10, 9 + count do
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
  if read.refused then return read.refused end

  budgets.create(KEYS[1], now, {
    scope_type = ARGV[2], scope_id = ARGV[3], enforcement_mode = ARGV[4], on_hard_limit = ARGV[5],
    on_soft_limit = ARGV[6], reset_interval_ms = budgets.digits(math.max(interval, 0)),
  }, limits)
  return reply.ok(id)
end)
