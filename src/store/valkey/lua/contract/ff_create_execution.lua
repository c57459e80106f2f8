-- Creates an execution. KEYS: 1 core, 2 payload, 3 policy, 4 tags, 5 lane eligible or delayed,
-- 6 idempotency key (or empty, or ff:noop:…), 7 execution_deadline, 8 all_executions. ARGV:
-- 1 execution_id, 2 namespace, 3 lane_id, 4 execution_kind, 5 priority, 6 creator_identity,
-- 7 policy_json, 8 payload, 9 delay_until, 10 dedup_ttl_ms, 11 tags_json, 12 execution_deadline_at,
-- 13 partition_id. Replies OK execution_id public_state, or DUPLICATE and the id of the first.
local given = arguments.given

local function idempotency_key(text)
  if not text or text == '' or string.sub(text, 1, 8) == 'ff:noop:' then return nil end
  return text
end

-- The reply if it was created before.
local function repeated(x, remembered, namespace)
  local first = remembered and call('GET', remembered)
  if first then
    local owner = call('HGET', keys.of_execution(x.tag, first, 'core'), 'namespace')
    if owner and owner ~= namespace then
      return reply.refuse('invalid_input', 'the idempotency key is one of another namespace')
    end
    return {1, 'DUPLICATE', first}
  end
  if call('EXISTS', x.key) == 1 then return {1, 'DUPLICATE', x.id} end
end

local function earlier(one, other)
  return one and other and math.min(one, other) or one or other
end

local function fields_of(x, ARGV, wanted, deadline_at)
  return {
    execution_id = x.id, namespace = ARGV[2], lane_id = ARGV[3], current_lane = ARGV[3],
    execution_kind = ARGV[4], creator_identity = given(ARGV[6]), partition_id = given(ARGV[13]),
    created_at = x.now, deadline = earlier(deadline_at, wanted.deadline_ms and x.now + wanted.deadline_ms),
    required_capabilities = wanted.required_capabilities,
    attempt_timeout_ms = wanted.attempt_timeout_ms, retention_ms = wanted.retention_ms,
    budget_ids = wanted.budget_ids, quota_policy_id = wanted.quota_policy_id,
  }
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

server.register_function('ff_create_execution', function(KEYS, ARGV)
  local read = arguments.reader()
  local priority = read:keep(arguments.priority('priority', ARGV[5]))
  for i, name in ipairs({'namespace', 'lane_id', 'execution_kind'}) do read:text(name, ARGV[i + 1]) end
  local tag, refused = contract.identify(KEYS[1], ARGV[1])
  if read.refused or not tag then return read.refused or refused end

  local raw = created.raw_of(tag, ARGV[1])
  if #raw ~= 16 or created.id_of(tag, raw) ~= ARGV[1] then
    return reply.refuse('invalid_input', 'execution_id must end in a UUID in lower case, got: ' .. ARGV[1])
  end
  local x = execution.new(KEYS[1], arguments.now())
  x.by_contract = true
  local remembered = idempotency_key(KEYS[6])
  local before = repeated(x, remembered, ARGV[2])
  if before then return before end
  local wanted = read:keep(submission.policy(ARGV[7]))
  local delay_until = read:optional_time('delay_until', ARGV[9])
  local dedup_ms = read:optional_number('dedup_ttl_ms', ARGV[10], nil, arguments.duration_max)
  local tags = read:keep(submission.tags(ARGV[11]))
  local deadline_at = read:optional_time('execution_deadline_at', ARGV[12])
  if read.refused then return read.refused end

  local fields = fields_of(x, ARGV, wanted, deadline_at)
  fields.priority = priority
  creation.begin(x, fields, delay_until)
  if x.f.delay_until then
    execution.put(x, {blocking_detail = string.format('delayed until %.0f', delay_until)})
  end
  dedup_ms = wanted.dedup_ms or dedup_ms
  if remembered and dedup_ms and dedup_ms > 0 then remember(x, remembered, dedup_ms) end
  if tags[1] then execution.put(x, {has_tags = 1}) end
  creation.write(x, ARGV[8] or '', ARGV[7] or '', raw)
  call('SADD', keys.index(x.tag, 'all_executions'), x.id)
  creation.set_tags(x, tags, 1)
  events.tell(x, 'submitted')
  return reply.ok(x.id, x.f.public_state)
end)
