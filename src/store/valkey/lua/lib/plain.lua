-- The plain case of submit, lease and complete in straight lines: an execution that runs once and succeeds. One that
-- needs budgets or a quota is plain to lease and to complete, a node of a flow to lease. Most calls are such, and take
-- about half of the server's time this way: a call of a command costs as much as hundreds of lines here, and so
-- does each field that is read or written. Each function here writes, publishes and replies as the function of its
-- name would without it. It returns nil, and has written nothing, if the case is not a plain one. A test compares both
-- ways.
local plain = {}

local is_on = true  -- a test switches it off

-- The fields of plainness.options; none unless `plain` tells of any.
local function read_options(core_key, kind)
  local options = {}
  if kind ~= plainness.with_options then return options end
  local values = server.call('HMGET', core_key, unpack(plainness.options))
  for i, field in ipairs(plainness.options) do options[field] = values[i] or nil end
  return options
end

local function add_if_given(fields, field, value, none)
  if value == none or value == nil then return end
  local size = #fields
  fields[size + 1], fields[size + 2] = field, value
end

-- Puts a new execution into the indexes.
local function enqueue(tag, id, new)
  local score = new.priority == '0' and new.created_at or new.created_at - new.priority * 1000000000000
  server.call('ZADD', keys.lane_index(tag, new.queue, 'eligible'), score, id)
  created.add(tag, new.namespace, new.created_at, new.raw)
  totals.add(tag, new.queue, 'all', 1)
end

function plain.submit(core_key, ARGV)
  local now_text, origin, namespace, lane, kind, priority, payload, digest, delay_until, deadline, idempotency_key, dedup_ms,
    retention_ms, content_type, traceparent, policy_json, capabilities, attempt_timeout_ms, execution_deadline_ms,
    uuid, tag_key = unpack(ARGV, 1, 21)
  if not is_on or delay_until ~= '' or deadline ~= '' or idempotency_key ~= '' or dedup_ms ~= '' or policy_json ~= ''
    or capabilities ~= '' or execution_deadline_ms ~= '' or tag_key or server.call('EXISTS', core_key) == 1 then
    return nil
  end

  local tag, id = keys.parse_core(core_key)
  local payload_key = payload ~= '=' and keys.of_execution(tag, id, 'payload')
  if payload == '#' and server.call('PERSIST', payload_key) == 0 then return nil end
  local now = arguments.now(now_text)
  local created_at = created.next_time(tag, namespace, now)
  local queue = namespace == 'default' and lane or namespace .. '\30' .. lane
  -- The fields that are read most often are in front: they are found first.
  local fields = {
    'plain', plainness.usual, 'eligibility_state', 'eligible_now', 'namespace', namespace, 'lane_id', lane,
    'execution_kind', kind, 'lifecycle_phase', 'runnable', 'attempt_state', 'pending_first_attempt', 'public_state',
    'waiting', 'created_at', created_at, 'digest', digest,
  }
  local usual_size = #fields
  add_if_given(fields, 'queue', queue, lane)
  add_if_given(fields, 'priority', priority, '0')
  add_if_given(fields, 'retention_ms', retention_ms, '')
  add_if_given(fields, 'content_type', content_type, '')
  add_if_given(fields, 'traceparent', traceparent, '')
  add_if_given(fields, 'attempt_timeout_ms', attempt_timeout_ms, '')
  if #fields > usual_size then fields[2] = plainness.with_options end

  server.call('HSET', core_key, unpack(fields))
  if payload_key and payload ~= '#' then server.call('SET', payload_key, string.sub(payload, 2)) end
  enqueue(tag, id, {namespace = namespace, queue = queue, priority = priority, created_at = created_at, raw = uuid})
  local event = origin .. '\31submitted\31' .. arguments.time_text(now) .. '\31' .. id .. '\31' .. namespace .. '\31'
    .. lane .. '\31' .. kind .. '\31waiting\0310\0311\31' .. priority .. '\31' .. created_at
    .. '\31\31\31\31\31\31\0310 0'
  return reply.ok(events.tell_text(tag, event), 'waiting')
end

local function is_name(text)
  return text and text ~= '' and not string.find(text, '[%z\1-\31\127]')
end

-- ff_create_execution without an idempotency key.
function plain.create(core_key, ARGV)
  local id, namespace, lane, kind, priority, creator, policy_json, payload, delay_text, dedup_text, tags_json,
    deadline_text, partition_id = unpack(ARGV, 1, 13)
  priority = arguments.priority('priority', priority)
  if not is_on or not priority or not (is_name(namespace) and is_name(lane) and is_name(kind))
    or policy_json and policy_json ~= '' and policy_json ~= '{}' or tags_json and tags_json ~= '' and tags_json ~= '{}'
    or arguments.given(delay_text or '') or arguments.given(deadline_text or '')
    or arguments.given(dedup_text or '') and dedup_text ~= '86400000' then
    return nil
  end
  local tag, named = keys.parse_core(core_key or '')
  local raw = named and named == id and created.raw_of(tag, id)
  if not raw or server.call('EXISTS', core_key) == 1 then return nil end

  local now = arguments.now()
  local created_at, at = created.next_time(tag, namespace, now), arguments.time_text(now)
  local fields = {
    'execution_id', id, 'namespace', namespace, 'lane_id', lane, 'current_lane', lane, 'execution_kind', kind, 'priority',
    priority, 'created_at', created_at, 'lifecycle_phase', 'runnable', 'ownership_state', 'unowned', 'eligibility_state',
    'eligible_now', 'blocking_reason', 'waiting_for_worker', 'terminal_outcome', 'none', 'attempt_state',
    'pending_first_attempt', 'public_state', 'waiting', 'last_transition_at', at, 'last_mutation_at', at,
  }
  add_if_given(fields, 'creator_identity', creator, '')
  add_if_given(fields, 'partition_id', partition_id, '')
  server.call('HSET', core_key, unpack(fields))
  if (payload or '') ~= '' then server.call('SET', keys.of_execution(tag, id, 'payload'), payload) end
  if (policy_json or '') ~= '' then server.call('SET', keys.of_execution(tag, id, 'policy'), policy_json) end
  enqueue(tag, id, {namespace = namespace, queue = lane, priority = priority, created_at = created_at, raw = raw})
  server.call('SADD', keys.index(tag, 'all_executions'), id)
  events.tell_text(tag, '\31submitted\31' .. at .. '\31' .. id .. '\31' .. namespace .. '\31' .. lane .. '\31' .. kind
    .. '\31waiting\0310\0311\31' .. priority .. '\31' .. created_at .. '\31\31\31\31\31\31\0310 0')
  return reply.ok(id, 'waiting')
end

-- The version with this change; it is written only if the one before was (folded.version).
local function next_version(core_key, stored, usual)
  if not stored then return usual end
  local version = string.format('%.0f', stored + 1)
  server.call('HSET', core_key, 'v', version)
  return version
end

-- `f` has the fields of a lease.
local function timer_of(f)
  if not (f.deadline or f.attempt_deadline_at) then return 'lease_expiry\31' .. f.lease_expires_at end
  local timer, due = timers.next(f)
  return timer .. '\31' .. due
end

function plain.lease(core_key, ARGV)
  local now_text, origin, source, worker, _, lease_id, attempt_id, ttl_ms, admission, admitted_until = unpack(ARGV, 1, 10)
  if not is_on or source ~= 'ready' or not admission then return nil end
  local kind, eligibility, namespace, lane, execution_kind = unpack(server.call('HMGET', core_key, 'plain',
    'eligibility_state', 'namespace', 'lane_id', 'execution_kind'))
  if not kind or eligibility ~= 'eligible_now' then return nil end
  local f, now = read_options(core_key, kind), arguments.now(now_text)
  local tag, id = keys.parse_core(core_key)
  if f.admission or f.has_tags or leases.check_admission({f = f, now = now}, admission, admitted_until)
    or f.flow_id and server.call('HGET', keys.flow(tag, f.flow_id, 'core'), 'public_flow_state') ~= 'running' then
    return nil
  end

  local at, queue = arguments.time_text(now), f.queue or lane
  local expires_at = string.format('%.0f', now + ttl_ms)
  local deadline = f.attempt_timeout_ms and now + f.attempt_timeout_ms
  server.call('HSET', core_key, 'lifecycle_phase', 'active', 'ownership_state', 'leased', 'eligibility_state',
    'not_applicable', 'attempt_state', 'running_attempt', 'public_state', 'active',
    'current_lease_id', lease_id, 'current_lease_epoch', '1', 'current_attempt_id', attempt_id, 'lease_expires_at',
    expires_at, 'current_worker_id', worker, 'total_attempt_count', '1', 'started_at', at)
  if admission ~= '' then server.call('HSET', core_key, 'admission', admission, 'plain', plainness.with_options) end
  if f.last_transition_at then server.call('HSET', core_key, 'last_transition_at', at) end
  if f.blocking_reason then server.call('HSET', core_key, 'blocking_reason', 'none') end
  local version = next_version(core_key, f.v, '1')
  server.call('ZREM', keys.lane_index(tag, queue, 'eligible'), id)
  server.call('ZADD', keys.index(tag, 'lease_expiry'), expires_at, id)
  waiting.move(tag, queue, waiting.needs(f), nil)
  if deadline then
    server.call('HSET', core_key, 'attempt_deadline_at', deadline)
    server.call('ZADD', keys.index(tag, 'attempt_timeout'), deadline, id)
  end

  f.ownership_state, f.lease_expires_at, f.attempt_deadline_at = 'leased', expires_at, deadline
  local event = origin .. '\31claimed\31' .. at .. '\31' .. id .. '\31' .. namespace .. '\31' .. lane .. '\31'
    .. execution_kind .. '\31active\0311\0310\0310\0310\31\31' .. timer_of(f) .. '\31' .. (f.budget_ids or '') .. '\31'
    .. (f.quota_policy_id or '') .. '\31\0310 ' .. version .. (f.flow_id and '\31' .. f.flow_id or '')
  local answer = reply.ok(events.tell_text(tag, event), namespace, lane, execution_kind,
    f.content_type or '', f.traceparent or '', '0', 'initial', '0', lease_id, '1', attempt_id, expires_at,
    deadline and tostring(deadline) or '', f.deadline or '', f.budget_ids or '')
  if f.flow_id then
    answer[#answer + 1] = ''
    answer[#answer + 1] = 'flow\31' .. f.flow_id .. '\31' .. (f.node or '')
  end
  return answer
end

function plain.complete(core_key, ARGV)
  if not is_on then return nil end
  local now_text, origin, lease_id, lease_epoch, attempt_id, has_result, result, content_type = unpack(ARGV, 1, 8)
  local kind, ownership, namespace, lane, execution_kind, held_lease, held_attempt, expires_at =
    unpack(server.call('HMGET', core_key, 'plain', 'ownership_state', 'namespace', 'lane_id', 'execution_kind',
      'current_lease_id', 'current_attempt_id', 'lease_expires_at'))
  -- A plain execution has had one lease.
  if not kind or ownership ~= 'leased' or held_lease ~= lease_id or lease_epoch ~= '1' or held_attempt ~= attempt_id then
    return nil
  end
  local f, now = read_options(core_key, kind), arguments.now(now_text)
  if f.flow_id or expires_at + 0 <= now then return nil end

  local tag, id = keys.parse_core(core_key)
  local at, queue = arguments.time_text(now), f.queue or lane
  server.call('HSET', core_key, 'lifecycle_phase', 'terminal', 'ownership_state', 'unowned', 'terminal_outcome',
    'success', 'attempt_state', 'attempt_terminal', 'public_state', 'completed', 'completed_at', at)
  local version = next_version(core_key, f.v, '2')
  if f.last_transition_at then server.call('HSET', core_key, 'last_transition_at', at) end
  if content_type ~= '' then server.call('HSET', core_key, 'result_content_type', content_type) end
  if has_result == '1' then server.call('SET', keys.of_execution(tag, id, 'result'), result) end
  local score = f.retention_ms and at + f.retention_ms - placement.retention_default or at
  server.call('ZADD', keys.lane_index(tag, queue, 'terminal'), score, id)
  server.call('ZREM', keys.index(tag, 'lease_expiry'), id)
  if f.attempt_deadline_at then server.call('ZREM', keys.index(tag, 'attempt_timeout'), id) end
  if f.deadline then server.call('ZREM', keys.index(tag, 'execution_deadline'), id) end
  local freed = f.admission
  if freed then
    server.call('HDEL', core_key, 'admission')
    effects.add_release({tag = tag, f = f}, freed)
  end

  local needs = f.budget_ids or f.quota_policy_id
  local event = origin .. '\31completed\31' .. at .. '\31' .. id .. '\31' .. namespace .. '\31' .. lane .. '\31'
    .. execution_kind .. '\31completed\0311\0310\0310\0310\31\31\31\31' .. (f.budget_ids or '') .. '\31'
    .. (f.quota_policy_id or '') .. '\31' .. (needs and freed or '') .. '\0310 ' .. version
  return reply.ok(events.tell_text(tag, event), 'completed')
end

return plain
