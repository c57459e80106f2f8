-- Creates an execution.
--   keys   core, payload, policy, tags, lane eligible or delayed, idempotency key (or empty, or ff:noop:…),
--          execution_deadline, all_executions
--   args   execution_id, namespace, lane_id, execution_kind, priority, creator_identity, policy_json,
--          payload, delay_until, dedup_ttl_ms, tags_json, execution_deadline_at, partition_id
--   reply  OK execution_id public_state, or DUPLICATE and the id of the first
local given = arguments.given

local function idempotency_key(text)
  if not text or text == '' or string.sub(text, 1, 8) == 'ff:noop:' then return nil end
  return text
end

-- The reply if it was created before.
local function repeated(x, remembered, namespace)
  local first = remembered and server.call('GET', remembered)
  if first then
    local owner = server.call('HGET', keys.of_execution(x.tag, first, 'core'), 'namespace')
    if owner and owner ~= namespace then
      return reply.refuse('invalid_input', 'the idempotency key is one of another namespace')
    end
    return {1, 'DUPLICATE', first}
  end
  if server.call('EXISTS', x.key) == 1 then return {1, 'DUPLICATE', x.id} end
end

local function earlier(one, other)
  return one and other and math.min(one, other) or one or other
end

-- Of a deadline given as a time and one given by the policy, the earlier one.
local function deadline_of(x, deadline_at, wanted)
  return earlier(deadline_at, wanted.deadline_ms and x.now + wanted.deadline_ms)
end

-- The caller's own part of the key: what follows the namespace.
local function remember(x, remembered, dedup_ms)
  local prefix = keys.idempotency(x.tag, x.f.namespace, '')
  if string.sub(remembered, 1, #prefix) == prefix then
    execution.put(x, {
      idempotency_key = string.sub(remembered, #prefix + 1), dedup_ms = dedup_ms,
    })
  end
  creation.remember(x, remembered, dedup_ms)
end

local function create(KEYS, ARGV)
  local core_key, remembered = KEYS[1], idempotency_key(KEYS[6])
  local id, namespace, lane, kind, priority, creator, policy_json, payload, delay_text, dedup_text,
    tags_json, deadline_text, partition_id = unpack(ARGV)

  local read = arguments.reader()
  priority = read:keep(arguments.priority('priority', priority))
  read:text('namespace', namespace)
  read:text('lane_id', lane)
  read:text('execution_kind', kind)
  local tag, refused = contract.identify(core_key, id)
  if read.refused or not tag then return read.refused or refused end
  local raw = created.raw_of(tag, id)
  if not raw then
    return reply.refuse('invalid_input', 'execution_id must end in a UUID in lower case, got: ' .. id)
  end
  local x = execution.new(core_key, arguments.now())
  x.by_contract = true
  local before = repeated(x, remembered, namespace)
  if before then return before end
  local wanted = read:keep(submission.policy(policy_json))
  local delay_until = read:optional_time('delay_until', delay_text)
  local dedup_ms = read:optional_number('dedup_ttl_ms', dedup_text, nil, arguments.duration_max)
  local tags = read:keep(submission.tags(tags_json))
  local deadline_at = read:optional_time('execution_deadline_at', deadline_text)
  if read.refused then return read.refused end

  creation.begin(x, {
    execution_id = id, namespace = namespace, lane_id = lane, current_lane = lane,
    execution_kind = kind, priority = priority, creator_identity = given(creator),
    partition_id = given(partition_id),
    deadline = deadline_of(x, deadline_at, wanted),
    required_capabilities = wanted.required_capabilities,
    attempt_timeout_ms = wanted.attempt_timeout_ms, retention_ms = wanted.retention_ms,
    budget_ids = wanted.budget_ids, quota_policy_id = wanted.quota_policy_id,
    max_signals = wanted.max_signals, fairness = wanted.fairness,
    has_tags = tags[1] and 1 or nil,
  }, delay_until)
  if x.f.delay_until then
    execution.put(x, {blocking_detail = string.format('delayed until %.0f', delay_until)})
  end
  dedup_ms = wanted.dedup_ms or dedup_ms
  if remembered and dedup_ms and dedup_ms > 0 then remember(x, remembered, dedup_ms) end
  creation.write(x, payload or '', policy_json or '', raw)
  server.call('SADD', keys.index(x.tag, 'all_executions'), x.id)
  creation.set_tags(x, tags, 1)
  events.tell(x, 'submitted')
  return reply.ok(x.id, x.f.public_state)
end

server.register_function('ff_create_execution', function(KEYS, ARGV)
  return not idempotency_key(KEYS[6]) and plain.create(KEYS[1], ARGV) or create(KEYS, ARGV)
end)
