-- Creates an execution.
--   keys   core
--   args   now, origin, namespace, lane, kind, priority, payload (=bytes or #), digest (of the request),
--          delay_until, deadline, idempotency_key, dedup_ms, retention_ms, content_type, traceparent,
--          policy (JSON), required_capabilities (CSV), attempt_timeout_ms, execution_deadline_ms (from
--          now), uuid (of the id, 16 bytes), then key and value of each tag
--   reply  OK event state, or DUPLICATE '' state id
-- An empty text means: not given. A payload `#` was set beside the core just before and expires unless this
-- call keeps it: large ones cost less that way than through Lua.
local given = arguments.given
local first_tag = 21

-- The execution that was submitted with the same idempotency key, while that is remembered.
local function find_remembered(x, key)
  local id = server.call('GET', key)
  local existing = id and execution.load(keys.of_execution(x.tag, id, 'core'), x.now)
  return existing and placement.remembered_until(existing.f) > x.now and existing
end

-- Whether an execution may have been submitted by this request. A node's request was one for its flow. What a program of
-- the contract created has no digest, so the request is recognised by where it went and what it asked for.
local function is_of_request(f, digest, namespace, lane, kind)
  if f.digest then return f.digest == digest end
  return not f.node_index and f.namespace == namespace and f.lane_id == lane and f.execution_kind == kind
end

-- The earlier of a time and a duration from now; nil if neither is given.
local function deadline_of(now, deadline, duration)
  if not duration then return deadline end
  return math.min(deadline or math.huge, now + duration)
end

local decoded_for = {'"budget_ids"', '"quota_policy_id"', '"max_signals_per_execution"', '"fairness_key"'}

-- The budgets, the quota, the limit of signals and the fairness in a policy, which is decoded only if it has any.
local function attached(policy_json)
  for _, member in ipairs(decoded_for) do
    if string.find(policy_json, member, 1, true) then
      return submission.attached(policy.decode(policy_json) or {})
    end
  end
end

local function submit(core_key, ARGV)
  local now_text, origin, namespace, lane, kind, priority, payload, digest, delay_until, deadline,
    idempotency_key, dedup_ms, retention_ms, content_type, traceparent, policy_json, capabilities,
    attempt_timeout_ms, execution_deadline_ms, uuid = unpack(ARGV, 1, first_tag - 1)

  local now = arguments.now(now_text)
  local x = execution.new(core_key, now)
  local is_known = server.call('EXISTS', core_key) == 1
  local payload_key = payload == '#' and keys.of_execution(x.tag, x.id, 'payload')
  if payload_key and not is_known and server.call('EXISTS', payload_key) == 0 then
    return reply.refuse('payload_missing')
  end
  idempotency_key, dedup_ms = given(idempotency_key), given(dedup_ms)
  local remembered = idempotency_key and keys.idempotency(x.tag, namespace, idempotency_key)
  local existing = remembered and find_remembered(x, remembered)
    or is_known and execution.load(core_key, now)
  if existing then
    if not is_of_request(existing.f, digest, namespace, lane, kind) then
      return reply.refuse('duplicate_mismatch', existing.id)
    end
    -- A program may have set the payload again, with an expiry.
    if payload_key and is_known then server.call('PERSIST', payload_key) end
    return {1, 'DUPLICATE', '', existing.f.public_state, existing.id}
  end

  local budget_ids, quota_policy_id, max_signals, fairness = attached(policy_json)
  creation.begin(x, {
    namespace = namespace, lane_id = lane, execution_kind = kind,
    -- Tenants do not block each other: each has its own queue for a lane.
    queue = namespace ~= 'default' and namespace .. '\30' .. lane or nil,
    priority = priority ~= '0' and priority or nil, digest = digest,
    deadline = deadline_of(now, tonumber(deadline), tonumber(execution_deadline_ms)),
    idempotency_key = idempotency_key, dedup_ms = dedup_ms, retention_ms = given(retention_ms),
    content_type = given(content_type), traceparent = given(traceparent),
    required_capabilities = given(capabilities), attempt_timeout_ms = given(attempt_timeout_ms),
    budget_ids = budget_ids, quota_policy_id = quota_policy_id, max_signals = max_signals, fairness = fairness,
    has_tags = ARGV[first_tag] and 1,
  }, tonumber(delay_until))
  execution.forget_times(x)
  if payload_key then server.call('PERSIST', payload_key) end
  creation.write(x, string.sub(payload, 2), policy_json, uuid)
  creation.set_tags(x, ARGV, first_tag)
  if remembered then
    -- In simulated time the server's clock must not end it.
    creation.remember(x, remembered, now_text == '' and (dedup_ms or 86400000) or nil)
  end
  return reply.ok(events.tell(x, 'submitted', origin), x.f.public_state)
end

commands.register('ff_submit', function(KEYS, ARGV)
  return plain.submit(KEYS[1], ARGV) or submit(KEYS[1], ARGV)
end)

-- Creates several that need nothing.
--   keys   cores
--   args   now, namespace, lane, kind, priority, retention_ms, then of each: origin, payload, digest, uuid
--   reply  OK and the reply of ff_submit of each
joined.register('ff_submit_many', 6, 4, function(core_key, ARGV, first)
  local argv = {
    ARGV[1], ARGV[first + 1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[first + 2], ARGV[first + 3], '', '', '', '',
    ARGV[6], '', '', '', '', '', '', ARGV[first + 4],
  }
  return plain.submit(core_key, argv) or submit(core_key, argv)
end)
