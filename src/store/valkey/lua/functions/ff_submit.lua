-- Creates an execution. KEYS: core. ARGV: now, origin, then:
--   3 namespace, 4 lane, 5 kind, 6 priority, 7 payload (=… or #), 8 digest of the request, 9 delay_until,
--   10 deadline, 11 idempotency_key, 12 dedup_ms, 13 retention_ms, 14 content_type, 15 traceparent,
--   16 policy (JSON), 17 required_capabilities (CSV), 18 attempt_timeout_ms,
--   19 execution_deadline_ms (from now), 20 the UUID of its id as 16 bytes, 21… tags (key, value)
-- An empty text means: not given. A payload `#` was set beside the core just before, and expires
-- unless this call keeps it: a large one costs less that way than through Lua. Replies OK event state, or DUPLICATE '' state id.
local function repeated(existing, digest)
  if existing.f.digest and existing.f.digest ~= digest then
    return reply.refuse('duplicate_mismatch', existing.id)
  end
  return {1, 'DUPLICATE', '', existing.f.public_state, existing.id}
end

commands.register('ff_submit', function(KEYS, ARGV)
  local now = arguments.now(ARGV[1])
  local given = arguments.given
  local x = execution.new(KEYS[1], now)
  if ARGV[7] == '#' and call('PERSIST', keys.of_execution(x.tag, x.id, 'payload')) == 0 then
    if call('EXISTS', KEYS[1]) == 0 then return reply.refuse('payload_missing') end
  end
  local namespace, lane = ARGV[3], ARGV[4]
  local idempotency_key = given(ARGV[11])
  local remembered
  if idempotency_key then
    remembered = keys.idempotency(x.tag, namespace, idempotency_key)
    local id = call('GET', remembered)
    local existing = id and execution.load(keys.of_execution(x.tag, id, 'core'), now)
    if existing and placement.remembered_until(existing.f) > now then
      return repeated(existing, ARGV[8])
    end
  end
  if call('EXISTS', KEYS[1]) == 1 then return repeated(execution.load(KEYS[1], now), ARGV[8]) end

  local deadline, time_in_all = tonumber(ARGV[10]), tonumber(ARGV[19])
  if time_in_all then deadline = math.min(deadline or math.huge, now + time_in_all) end
  local fields = {
    namespace = namespace, lane_id = lane, execution_kind = ARGV[5],
    priority = ARGV[6] ~= '0' and ARGV[6] or nil,
    created_at = x.at, digest = ARGV[8], deadline = deadline, idempotency_key = idempotency_key,
    dedup_ms = given(ARGV[12]), retention_ms = given(ARGV[13]), content_type = given(ARGV[14]),
    traceparent = given(ARGV[15]), required_capabilities = given(ARGV[17]),
    attempt_timeout_ms = given(ARGV[18]), has_tags = ARGV[21] and 1,
  }
  -- Tenants do not stand in each other's way: each has its own queue for a lane.
  if namespace ~= 'default' then fields.queue = namespace .. '\30' .. lane end
  if string.find(ARGV[16], '"budget_ids"', 1, true)
    or string.find(ARGV[16], '"quota_policy_id"', 1, true) then
    fields.budget_ids, fields.quota_policy_id = submission.attached(policy.decode(ARGV[16]) or {})
  end
  creation.begin(x, fields, tonumber(ARGV[9]))
  x.changed.last_transition_at, x.changed.last_mutation_at = nil, nil  -- they say no more than created_at
  creation.write(x, string.sub(ARGV[7], 2), ARGV[16], ARGV[20])
  creation.set_tags(x, ARGV, 21)
  if remembered then
    -- In simulated time the server's clock must not end it.
    creation.remember(x, remembered, ARGV[1] == '' and (fields.dedup_ms or 86400000) or nil)
  end
  return reply.ok(events.tell(x, 'submitted', ARGV[2]), x.f.public_state)
end)
