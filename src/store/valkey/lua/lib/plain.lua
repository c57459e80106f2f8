-- The plain case of submit, lease and complete in straight lines: an execution that runs once and succeeds. One that
-- needs budgets or a quota is plain to lease and to complete, a node of a flow to lease. Most calls are such, and take about half
-- of the server's time this way. Each function here writes, publishes and replies as the function of its name would
-- without it. It returns nil, and has written nothing, if the case is not a plain one. A test compares both ways.
local plain = {}

local is_on = true  -- a test switches it off

-- An execution with another field is not plain.
local fields_of_a_plain_one = [[
  namespace lane_id execution_kind queue priority digest deadline retention_ms content_type traceparent
  attempt_timeout_ms max_signals has_tags created_at lifecycle_phase ownership_state eligibility_state blocking_reason
  terminal_outcome attempt_state public_state last_transition_at v current_attempt_index current_attempt_id
  total_attempt_count current_lease_id current_lease_epoch current_worker_id lease_expires_at lease_last_renewed_at
  attempt_deadline_at started_at last_mutation_at budget_ids quota_policy_id admission]]

-- Fields of a node of a flow that mean nothing to its lease.
local fields_of_a_node = [[
  flow_id node node_index spawned_in from to edges_in edges_out satisfied impossible needed is_optional is_finalizer
  cancel_rest]]

local function set_of(fields)
  local set = {}
  for field in string.gmatch(fields, '%S+') do set[field] = true end
  return set
end

local is_of_a_plain_one, is_of_a_plain_node

local function has_only(f, known)
  for field in pairs(f) do
    if not known[field] then return false end
  end
  return is_on
end

local function is_plain(f)
  is_of_a_plain_one = is_of_a_plain_one or set_of(fields_of_a_plain_one)
  return has_only(f, is_of_a_plain_one)
end

-- A node that its flow lets start, too.
local function is_plain_to_lease(tag, f)
  if not f.flow_id then return is_plain(f) end
  is_of_a_plain_node = is_of_a_plain_node or set_of(fields_of_a_plain_one .. ' ' .. fields_of_a_node)
  return has_only(f, is_of_a_plain_node)
    and server.call('HGET', keys.flow(tag, f.flow_id, 'core'), 'public_flow_state') == 'running'
end

function plain.submit(core_key, ARGV)
  local now_text, origin, namespace, lane, kind, priority, payload, digest, delay_until, deadline, idempotency_key, dedup_ms,
    retention_ms, content_type, traceparent, policy_json, capabilities, attempt_timeout_ms, execution_deadline_ms,
    uuid, tag_key = unpack(ARGV, 1, 21)
  if not is_on or delay_until ~= '' or deadline ~= '' or idempotency_key ~= '' or dedup_ms ~= '' or policy_json ~= ''
    or capabilities ~= '' or execution_deadline_ms ~= '' or payload == '#' or tag_key
    or server.call('EXISTS', core_key) == 1 then
    return nil
  end

  local tag, id = keys.parse_core(core_key)
  local now = arguments.now(now_text)
  local created_at = created.next_time(tag, namespace, now)
  local queue = namespace == 'default' and lane or namespace .. '\30' .. lane
  local fields = {
    'namespace', namespace, 'lane_id', lane, 'execution_kind', kind, 'digest', digest, 'created_at', created_at,
    'lifecycle_phase', 'runnable', 'ownership_state', 'unowned', 'eligibility_state', 'eligible_now',
    'blocking_reason', 'waiting_for_worker', 'terminal_outcome', 'none', 'attempt_state', 'pending_first_attempt',
    'public_state', 'waiting',
  }
  local size = #fields
  local function add_if_given(field, value, none)
    if value == none then return end
    fields[size + 1], fields[size + 2] = field, value
    size = size + 2
  end
  add_if_given('queue', queue, lane)
  add_if_given('priority', priority, '0')
  add_if_given('retention_ms', retention_ms, '')
  add_if_given('content_type', content_type, '')
  add_if_given('traceparent', traceparent, '')
  add_if_given('attempt_timeout_ms', attempt_timeout_ms, '')

  server.call('HSET', core_key, unpack(fields, 1, size))
  local score = priority == '0' and created_at or created_at - priority * 1000000000000
  server.call('ZADD', keys.lane_index(tag, queue, 'eligible'), score, id)
  if payload ~= '=' then server.call('SET', keys.of_execution(tag, id, 'payload'), string.sub(payload, 2)) end
  created.add(tag, namespace, created_at, uuid)
  totals.add(tag, queue, 'all', 1)
  local event = origin .. '\31submitted\31' .. arguments.time_text(now) .. '\31' .. id .. '\31' .. namespace .. '\31'
    .. lane .. '\31' .. kind .. '\31waiting\0310\0311\31' .. priority .. '\31' .. created_at
    .. '\31\31\31\31\31\31\0310 0'
  return reply.ok(events.tell_text(tag, event), 'waiting')
end

-- Numbers as text, because Valkey takes long to write one: what follows a count that began at 0.
local following = {['1'] = '2', ['2'] = '3', ['3'] = '4', ['4'] = '5', ['5'] = '6'}
local function next_count(text)
  return text and (following[text] or string.format('%.0f', text + 1)) or '1'
end

-- The event of a change after which no worker can claim it; see lib/events.lua. `freed` is its admission to a quota,
-- if it lost that.
local function tell(tag, id, f, what, at, origin, freed)
  local timer, due = timers.next(f)
  local is_told = f.budget_ids or f.quota_policy_id
  return events.tell_text(tag, origin .. '\31' .. what .. '\31' .. at .. '\31' .. id .. '\31' .. f.namespace .. '\31'
    .. f.lane_id .. '\31' .. f.execution_kind .. '\31' .. f.public_state .. '\31' .. f.total_attempt_count
    .. '\0310\31' .. (f.priority or '0') .. '\31' .. f.created_at .. '\31\31' .. (timer or '') .. '\31' .. (due or '')
    .. '\31' .. (f.budget_ids or '') .. '\31' .. (f.quota_policy_id or '') .. '\31' .. (is_told and freed or '') .. '\0310 ' .. f.v
    .. (f.flow_id and '\31' .. f.flow_id or ''))
end

-- `f` is what execution.read found.
function plain.lease(core_key, f, now, ARGV)
  local origin, source, worker, lease_id, attempt_id, admission = ARGV[2], ARGV[3], ARGV[4], ARGV[6], ARGV[7], ARGV[9]
  local tag, id = keys.parse_core(core_key)
  if f.attempt_state ~= 'pending_first_attempt' or f.eligibility_state ~= 'eligible_now' or source ~= 'ready'
    or not admission or f.admission or f.current_attempt_index or f.has_tags or f.last_mutation_at
    or leases.check_admission({f = f, now = now}, admission, ARGV[10]) or not is_plain_to_lease(tag, f) then
    return nil
  end

  local at, queue = arguments.time_text(now), f.queue or f.lane_id
  local expires_at = string.format('%.0f', now + ARGV[8])
  local epoch, version = next_count(f.current_lease_epoch), next_count(f.v)
  local deadline = f.attempt_timeout_ms and now + f.attempt_timeout_ms
  server.call('HSET', core_key, 'lifecycle_phase', 'active', 'ownership_state', 'leased', 'eligibility_state',
    'not_applicable', 'blocking_reason', 'none', 'attempt_state', 'running_attempt', 'public_state', 'active',
    'last_transition_at', at, 'started_at', at, 'current_attempt_index', '0', 'current_attempt_id', attempt_id,
    'total_attempt_count', '1', 'current_lease_id', lease_id, 'current_lease_epoch', epoch, 'current_worker_id', worker,
    'lease_expires_at', expires_at, 'v', version)
  if admission ~= '' then server.call('HSET', core_key, 'admission', admission) end
  server.call('HSET', keys.attempt(tag, id, '0'), 'attempt_id', attempt_id, 'attempt_index', '0', 'attempt_type',
    'initial', 'attempt_state', 'started', 'started_at', at, 'lease_id', lease_id, 'lease_epoch', epoch, 'worker_id',
    worker)
  server.call('ZREM', keys.lane_index(tag, queue, 'eligible'), id)
  server.call('ZADD', keys.lane_index(tag, queue, 'active'), expires_at, id)
  server.call('ZADD', keys.index(tag, 'lease_expiry'), expires_at, id)
  waiting.move(tag, queue, waiting.needs(f), nil)
  if deadline then
    server.call('HSET', core_key, 'attempt_deadline_at', deadline)
    server.call('ZADD', keys.index(tag, 'attempt_timeout'), deadline, id)
  end

  f.ownership_state, f.public_state, f.total_attempt_count, f.v = 'leased', 'active', '1', version
  f.lease_expires_at, f.attempt_deadline_at = expires_at, deadline
  local answer = reply.ok(tell(tag, id, f, 'claimed', at, origin), f.namespace, f.lane_id, f.execution_kind,
    f.content_type or '', f.traceparent or '', '0', 'initial', '0', lease_id, epoch, attempt_id, expires_at,
    deadline and tostring(deadline) or '', f.deadline or '', f.budget_ids or '')
  if f.flow_id then
    answer[#answer + 1] = ''
    answer[#answer + 1] = 'flow\31' .. f.flow_id .. '\31' .. (f.node or '')
  end
  return answer
end

function plain.complete(core_key, f, now, ARGV)
  local _, origin, lease_id, lease_epoch, attempt_id, has_result, result, content_type = unpack(ARGV, 1, 8)
  if f.ownership_state ~= 'leased' or f.current_lease_id ~= lease_id or f.current_lease_epoch ~= lease_epoch
    or f.current_attempt_id ~= attempt_id or f.lease_expires_at + 0 <= now or not is_plain(f) then
    return nil
  end

  local tag, id = keys.parse_core(core_key)
  local at, queue, version = arguments.time_text(now), f.queue or f.lane_id, next_count(f.v)
  server.call('HSET', core_key, 'lifecycle_phase', 'terminal', 'ownership_state', 'unowned', 'terminal_outcome',
    'success', 'attempt_state', 'attempt_terminal', 'public_state', 'completed', 'last_transition_at', at,
    'completed_at', at, 'v', version)
  server.call('HDEL', core_key, 'current_lease_id', 'current_worker_id', 'lease_expires_at', 'admission')
  if f.last_mutation_at then server.call('HDEL', core_key, 'last_mutation_at', 'lease_last_renewed_at') end
  if content_type ~= '' then server.call('HSET', core_key, 'result_content_type', content_type) end
  server.call('HSET', keys.attempt(tag, id, f.current_attempt_index), 'attempt_state', 'ended_success', 'ended_at', at)
  if has_result == '1' then server.call('SET', keys.of_execution(tag, id, 'result'), result) end
  server.call('ZREM', keys.lane_index(tag, queue, 'active'), id)
  local score = f.retention_ms and at + f.retention_ms - placement.retention_default or at
  server.call('ZADD', keys.lane_index(tag, queue, 'terminal'), score, id)
  server.call('ZREM', keys.index(tag, 'lease_expiry'), id)
  if f.attempt_deadline_at then
    server.call('HDEL', core_key, 'attempt_deadline_at')
    server.call('ZREM', keys.index(tag, 'attempt_timeout'), id)
  end
  if f.deadline then server.call('ZREM', keys.index(tag, 'execution_deadline'), id) end
  local freed = f.admission
  if freed then effects.add_release({tag = tag, f = f}, freed) end

  f.lifecycle_phase, f.public_state, f.v = 'terminal', 'completed', version
  return reply.ok(tell(tag, id, f, 'completed', at, origin, freed), 'completed')
end

return plain
