-- Gives an execution back until signals, an operator or a timeout resume it.
--   keys   core, attempt, lease:current, lease:history, lease_expiry, worker leases, suspension:current,
--          waitpoint, its signals, suspension_timeout, pending_waitpoint_expiry, lane active, lane suspended,
--          waitpoints, its condition, attempt_timeout, key ring; later also the suspend dedup hash (or
--          ff:noop:…) and, of each additional waitpoint, itself, its signals, its condition
--   args   execution_id, attempt_index, attempt_id, lease_id, lease_epoch, suspension_id, waitpoint_id,
--          waitpoint_key (ignored with use_pending_waitpoint), reason_code, requested_by, timeout_at,
--          resume_condition_json, resume_policy_json, continuation_metadata_pointer, use_pending_waitpoint,
--          timeout_behavior, lease_history_maxlen; later also idempotency_key, dedup_ttl_ms, number of
--          additional waitpoints, and their ids and keys
--   reply  OK suspension_id waitpoint_id waitpoint_key waitpoint_token, and if called with the later arguments
--          the number of additional waitpoints and id, key, token of each. ALREADY_SATISFIED and the same if
--          signals that arrived before are enough: the lease goes on.
local first_extra, extras_max = 21, 63
local summary = '{"total_count":0,"matched_count":0,"signal_names":[]}'

-- The additional waitpoints, or nil and the refusal.
local function read_extras(ARGV, count)
  local extras = {}
  for i = 0, count - 1 do
    local id, key = ARGV[first_extra + 2 * i], ARGV[first_extra + 2 * i + 1]
    if not arguments.given(id) or not arguments.given(key) or string.find(id, '[%z\1-\31\127]') then
      return nil, reply.refuse('additional_waitpoint_binding_malformed')
    end
    extras[#extras + 1] = {id = id, key = key}
  end
  return extras
end

-- The arguments, or nil and the refusal.
local function read_arguments(ARGV)
  local read = arguments.reader()
  local want = {
    fence = {lease_id = ARGV[4], epoch = ARGV[5], attempt_id = ARGV[3]}, attempt_index = ARGV[2],
    suspension_id = read:text('suspension_id', ARGV[6]), waitpoint_id = read:text('waitpoint_id', ARGV[7]),
    waitpoint_key = ARGV[8] or '', reason_code = ARGV[9] or '', requested_by = ARGV[10] or '',
    timeout_at = read:optional_time('timeout_at', ARGV[11]), condition_json = ARGV[12],
    policy_json = ARGV[13] or '', continuation = ARGV[14] or '', use_pending = ARGV[15] == '1',
    timeout_behavior = ARGV[16] or 'fail', idempotency_key = ARGV[18] or '',
    dedup_ttl = read:optional_number('dedup_ttl_ms', ARGV[19], 0, arguments.duration_max) or 0,
    is_later_form = ARGV[18] ~= nil,
  }
  read:optional_number('lease_history_maxlen', ARGV[17], 0)
  local count = read:optional_number('num_additional_waitpoints', ARGV[20], 0, extras_max) or 0
  want.extras = read:keep(read_extras(ARGV, count))
  local decoded = want.policy_json == '' and {} or policy.decode(want.policy_json)
  if not decoded then
    read:keep(nil, reply.refuse('invalid_input', 'resume_policy_json must be a JSON object'))
  end
  local delay = policy.number(decoded, 'resume_delay_ms', 0)
  want.resume_delay = read:number('resume_delay_ms', delay, 0, arguments.duration_max)
  return want, read.refused
end

-- The reply of the first call with the idempotency key, while its suspension has not been resumed.
local function first_reply(x, waits, want)
  if want.idempotency_key == '' then return nil end
  local outcome = server.call('HGET', keys.suspend_dedup(x, want.idempotency_key), 'outcome')
  if not outcome then return nil end
  local parts = {1}
  for part in string.gmatch(outcome .. '\t', '([^\t]*)\t') do parts[#parts + 1] = part end
  local suspension = waits.suspension
  local holds = suspension and suspension.suspension_id == parts[3]
    and (not suspension.closed_at or suspension.satisfied_at_once)
  return holds and parts or nil
end

local function refusal(x, waits, want)
  local refused = fencing.check(x, want.fence)
  if refused then return refused end
  if folded.index(x.f) ~= want.attempt_index then
    return reply.refuse('invalid_lease_for_suspend')
  end
  if suspending.is_suspension_open(waits) then return reply.refuse('already_suspended') end
end

-- The pending waitpoint that it activates, or nil and the refusal.
local function find_pending(x, waits, want)
  local id = want.waitpoint_id
  local f = waitpoints.of(x, waits, id)
  if not f then
    local exists = server.call('EXISTS', keys.waitpoint(x.tag, id)) == 1
    return nil, reply.refuse(exists and 'invalid_waitpoint_for_execution' or 'waitpoint_not_found')
  end
  if f.state ~= 'pending' then return nil, reply.refuse('waitpoint_not_pending') end
  if f.attempt_index and f.attempt_index ~= want.attempt_index then
    return nil, reply.refuse('invalid_waitpoint_for_execution')
  end
  local waitpoint = suspending.find(waits, id)
  if not suspending.is_open(waits, waitpoint) then
    return nil, reply.refuse('pending_waitpoint_expired')
  end
  if not f.waitpoint_token then return nil, reply.refuse('waitpoint_not_token_bound') end
  if #want.extras > 0 then return nil, reply.refuse('use_pending_with_extras_unsupported') end
  return waitpoint
end

-- The fields of each new waitpoint, or nil and the refusal.
local function make_all(x, waits, want, ring_key)
  local made, seen = {}, {}
  for i, each in ipairs({{id = want.waitpoint_id, key = want.waitpoint_key}, unpack(want.extras)}) do
    local refused = waitpoints.check_new(x, waits, each.id)
      or seen[each.id] and reply.refuse('additional_waitpoint_binding_malformed')
    if refused then return nil, refused end
    seen[each.id] = true
    made[i], refused = waitpoints.make(x, ring_key, each.id, each.key)
    if not made[i] then return nil, refused end
  end
  local refused = suspending.has_too_many(waits, #made)
  return not refused and made or nil, refused
end

local function keys_of(want, pending)
  local bound = {pending and (pending.f.waitpoint_key or '') or want.waitpoint_key}
  for _, extra in ipairs(want.extras) do bound[#bound + 1] = extra.key end
  return bound
end

-- Nothing is refused from here on.
local function suspend(x, waits, want, condition, pending, made)
  suspending.drop_closed(waits)
  local bound = {pending}
  for _, fields in ipairs(made or {}) do
    waitpoints.replace(x, waits, fields.waitpoint_id)
    bound[#bound + 1] = suspending.add_waitpoint(waits, fields.waitpoint_id, fields)
  end
  local timeout_at = want.timeout_at and string.format('%.0f', want.timeout_at) or nil
  for _, waitpoint in ipairs(bound) do
    suspending.activate(waitpoint, want.suspension_id, x.at, timeout_at)
  end
  local additional = {}
  for i, extra in ipairs(want.extras) do
    additional[i] = {waitpoint_id = extra.id, waitpoint_key = extra.key}
  end
  suspending.start(waits, {
    suspension_id = want.suspension_id, execution_id = x.id, attempt_index = want.attempt_index,
    lease_id = want.fence.lease_id, lease_epoch = want.fence.epoch, waitpoint_key = bound[1].f.waitpoint_key,
    reason_code = want.reason_code, requested_by = want.requested_by, timeout_at = timeout_at,
    timeout_behavior = want.timeout_behavior, resume_condition_json = want.condition_json,
    resume_policy_json = want.policy_json, continuation_metadata_pointer = want.continuation,
    buffered_signal_summary_json = summary, condition = cjson.encode(condition),
    additional_waitpoints_json = #additional > 0 and cjson.encode(additional) or '[]',
    resume_delay_ms = want.resume_delay > 0 and string.format('%.0f', want.resume_delay) or nil,
    idempotency_key = arguments.given(want.idempotency_key),
  }, bound, '')
  return bound
end

local function answer(want, word, bound)
  local told = {1, word, want.suspension_id}
  local function add(waitpoint)
    told[#told + 1] = waitpoint.id
    told[#told + 1] = waitpoint.f.waitpoint_key or ''
    told[#told + 1] = waitpoint.f.waitpoint_token
  end
  add(bound[1])
  if not want.is_later_form then return told end
  told[#told + 1] = tostring(#bound - 1)
  for i = 2, #bound do add(bound[i]) end
  return told
end

local function remember(x, want, told)
  if want.idempotency_key == '' then return end
  local key = keys.suspend_dedup(x, want.idempotency_key)
  server.call('DEL', key)
  server.call('HSET', key, 'outcome', table.concat(told, '\t', 2))
  if want.dedup_ttl > 0 then server.call('PEXPIRE', key, want.dedup_ttl) end
end

server.register_function('ff_suspend_execution', function(KEYS, ARGV)
  local core_key, ring_key = KEYS[1], KEYS[17]

  local want, refused = read_arguments(ARGV)
  if refused then return refused end
  local x
  x, refused = contract.load(core_key, ARGV[1])
  if not x then return refused end
  local waits = suspending.load(x)
  local first = first_reply(x, waits, want)
  if first then return first end
  refused = refusal(x, waits, want)
  if refused then return refused end
  local pending, made, condition
  if want.use_pending then
    pending, refused = find_pending(x, waits, want)
  else
    made, refused = make_all(x, waits, want, ring_key)
  end
  if refused then return refused end
  condition, refused = conditions.from_contract(want.condition_json, keys_of(want, pending),
    want.timeout_at ~= nil)
  if not condition then return refused end
  local allowed = signals.too_few_allowed(x, condition)
  if allowed then
    return reply.refuse('invalid_input', 'resume_condition_json: the policy allows ' .. allowed .. ' signals')
  end

  local bound = suspend(x, waits, want, condition, pending, made)
  local last = signals.count_earlier(waits)
  suspending.write_conditions(waits)
  if last then
    suspending.satisfy_at_once(waits, last)
  else
    suspending.suspend(waits)
    execution.put(x, {
      blocking_detail = 'suspended: waitpoint ' .. bound[1].id .. ' awaiting ' .. want.reason_code,
    })
  end
  suspending.save(waits)
  local told = answer(want, last and 'ALREADY_SATISFIED' or 'OK', bound)
  remember(x, want, told)
  contract.save(x, last and 'resumed' or 'suspended')
  return told
end)
