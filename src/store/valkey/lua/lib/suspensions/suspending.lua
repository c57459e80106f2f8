-- Waitpoints, suspensions and signals of an execution. A function loads its waits, changes them, and saves them
-- before the execution. The core has
--   has_waits         if anything below was ever there
--   waitpoints        ids of the known waitpoints in the order in which they were opened, joined by byte 31
--   waitpoint_expiry  when the first open one expires
--   signal_count, first_uncounted   signals before that index count only if they were passed over
--   wake              how the newest suspension ended: cause, time, suspension and reason,
--                     joined by byte 31
-- A waitpoint that a program of the contract made has a waitpoint_token. Its hash outlives it as long as the
-- execution, so that its token is answered with `waitpoint_closed`; the set `waitpoints` knows it.
local suspending = {}

local waitpoints_max = 64  -- open ones; as many closed ones are kept
local separator = '\31'
local values_max = 1000  -- in one command

local function write_fields(key, fields)
  for i = 1, #fields, values_max do
    server.call('HSET', key, unpack(fields, i, math.min(i + values_max - 1, #fields)))
  end
end

-- nil if there is no such hash.
local function read_fields(key)
  local flat = server.call('HGETALL', key)
  if #flat == 0 then return nil end
  local fields = {}
  for i = 1, #flat, 2 do
    if flat[i + 1] ~= '' then fields[flat[i]] = flat[i + 1] end
  end
  return fields
end

-- ---- Loading and saving ---------------------------------------------------------------------------

function suspending.load(x)
  local waits = {x = x, waitpoints = {}, suspension_changed = {}}
  if not x.f.has_waits then return waits end
  waits.suspension = read_fields(keys.suspension(x))
  for id in string.gmatch(x.f.waitpoints or '', '[^\31]+') do
    local f = read_fields(keys.waitpoint(x.tag, id))
    if f then waits.waitpoints[#waits.waitpoints + 1] = {id = id, f = f, changed = {}} end
  end
  return waits
end

function suspending.find(waits, id)
  for _, waitpoint in ipairs(waits.waitpoints) do
    if waitpoint.id == id then return waitpoint end
  end
end

local function put_waitpoint(waitpoint, values)
  for field, value in pairs(values) do
    waitpoint.f[field], waitpoint.changed[field] = value, true
  end
end

local function put_suspension(waits, values)
  for field, value in pairs(values) do
    waits.suspension[field], waits.suspension_changed[field] = value, true
  end
end

local function changed_fields(fields, changed)
  local set = {}
  for field in pairs(changed) do
    if fields[field] ~= nil then
      set[#set + 1] = field
      set[#set + 1] = fields[field]
    end
  end
  return set
end

local function expiry_index(x)
  return keys.index(x.tag, 'pending_waitpoint_expiry')
end

-- Scanners of the contract look after the pending waitpoints of its programs.
local function save_waitpoint(x, waitpoint)
  local f, changed = waitpoint.f, waitpoint.changed
  write_fields(keys.waitpoint(x.tag, waitpoint.id), changed_fields(f, changed))
  if not f.waitpoint_token or not changed.state then return end
  if f.state == 'pending' then
    server.call('ZADD', expiry_index(x), f.expires_at, waitpoint.id)
  else
    server.call('ZREM', expiry_index(x), waitpoint.id)
  end
  if waitpoint.is_new then
    server.call('SADD', keys.of_execution(x.tag, x.id, 'waitpoints'), waitpoint.id)
  end
end

local function forget_waitpoint(x, waitpoint)
  local key = keys.waitpoint(x.tag, waitpoint.id)
  if waitpoint.f.waitpoint_token then
    server.call('UNLINK', key .. ':condition', key .. ':signals')
  else
    server.call('UNLINK', key)
  end
end

-- `expires_with`: its expiry is the suspension's timeout, which has a timer of its own.
local function expiry_of(waitpoint)
  return not waitpoint.f.expires_with and tonumber(waitpoint.f.expires_at) or nil
end

local function is_open(waitpoint)
  return waitpoint.f.state ~= 'closed'
end

-- From its expiry on a waitpoint is closed, though its timer may not have fired.
function suspending.is_open(waits, waitpoint)
  local expires_at = expiry_of(waitpoint)
  return is_open(waitpoint) and not (expires_at and expires_at <= waits.x.now)
end

-- Programs of the contract look at the hash beside each waitpoint.
local function close_conditions(waits)
  local x = waits.x
  for _, waitpoint in ipairs(suspending.bound(waits)) do
    server.call('HSET', keys.waitpoint(x.tag, waitpoint.id) .. ':condition', 'closed', '1',
      'closed_at', x.at, 'closed_reason', waits.closed_conditions)
  end
end

local function save_suspension(waits)
  if waits.tally_changed then
    put_suspension(waits, {tally = cmsgpack.pack(waits.tally)})
  end
  write_fields(keys.suspension(waits.x), changed_fields(waits.suspension, waits.suspension_changed))
end

-- Writes what changed, and puts the core's fields; execution.save must follow.
function suspending.save(waits)
  local x, ids, expiry = waits.x, {}, nil
  for _, waitpoint in ipairs(waits.dropped or {}) do forget_waitpoint(x, waitpoint) end
  for i, waitpoint in ipairs(waits.waitpoints) do
    ids[i] = waitpoint.id
    if next(waitpoint.changed) then save_waitpoint(x, waitpoint) end
    local expires_at = is_open(waitpoint) and expiry_of(waitpoint)
    if expires_at then expiry = math.min(expiry or expires_at, expires_at) end
  end
  if waits.suspension then save_suspension(waits) end
  if waits.closed_conditions then close_conditions(waits) end
  if not x.f.has_waits then execution.put(x, {has_waits = 1}) end
  local joined = table.concat(ids, separator)
  if joined ~= (x.f.waitpoints or '') then execution.put_text(x, 'waitpoints', joined) end
  local expiry_text = expiry and string.format('%.0f', expiry) or ''
  if expiry_text ~= (x.f.waitpoint_expiry or '') then
    execution.put_text(x, 'waitpoint_expiry', expiry_text)
  end
end

-- ---- Waitpoints -----------------------------------------------------------------------------------

-- Whether another waitpoint has the id: of this execution, or of another one.
local function is_taken(waits, id)
  if suspending.find(waits, id) then return true end
  for _, waitpoint in ipairs(waits.dropped or {}) do
    if waitpoint.id == id then return waitpoint.f.waitpoint_token ~= nil end
  end
  return server.call('EXISTS', keys.waitpoint(waits.x.tag, id)) == 1
end

-- Refuses so many more.
function suspending.has_too_many(waits, more)
  local open_count = more
  for _, waitpoint in ipairs(waits.waitpoints) do
    if is_open(waitpoint) then open_count = open_count + 1 end
  end
  if open_count > waitpoints_max then return reply.refuse('waitpoint_limit_exceeded') end
end

-- The open waitpoint with the wanted key, made if there is none, and whether it was made; or nil and the
-- refusal. `wanted` has id, key, and maybe expires_in, question.
function suspending.open(waits, wanted)
  local x = waits.x
  for _, waitpoint in ipairs(waits.waitpoints) do
    if waitpoint.f.waitpoint_key == wanted.key and suspending.is_open(waits, waitpoint) then
      return waitpoint, false
    end
  end
  local refused = suspending.has_too_many(waits, 1)
  if refused then return nil, refused end
  if is_taken(waits, wanted.id) then
    return nil, reply.refuse('waitpoint_already_exists', wanted.id)
  end
  return suspending.add_waitpoint(waits, wanted.id, {
    waitpoint_key = wanted.key, state = 'pending', created_at = x.at, question = wanted.question,
    expires_at = wanted.expires_in and string.format('%.0f', x.now + wanted.expires_in) or nil,
  }), true
end

-- Closed waitpoints stay known until the next suspension, so that late signals are refused as such. Of many, the
-- oldest are forgotten.
local function forget_oldest_closed(waits)
  local excess, kept = -waitpoints_max, {}
  for _, waitpoint in ipairs(waits.waitpoints) do
    if not is_open(waitpoint) then excess = excess + 1 end
  end
  if excess <= 0 then return end
  waits.dropped = waits.dropped or {}
  for _, waitpoint in ipairs(waits.waitpoints) do
    local list = kept
    if not is_open(waitpoint) and excess > 0 then
      list, excess = waits.dropped, excess - 1
    end
    list[#list + 1] = waitpoint
  end
  waits.waitpoints = kept
end

function suspending.add_waitpoint(waits, id, fields)
  forget_oldest_closed(waits)
  local waitpoint = {id = id, f = {}, changed = {}, is_new = true}
  put_waitpoint(waitpoint, fields)
  waits.waitpoints[#waits.waitpoints + 1] = waitpoint
  return waitpoint
end

-- A signal came to it.
function suspending.add_signal(waitpoint)
  put_waitpoint(waitpoint, {signal_count = tostring((waitpoint.f.signal_count or 0) + 1)})
end

-- One of its signals counts.
function suspending.add_counted(waitpoint)
  put_waitpoint(waitpoint, {
    matched_signal_count = tostring((waitpoint.f.matched_signal_count or 0) + 1),
  })
end

function suspending.close_waitpoint(waits, waitpoint, reason)
  put_waitpoint(waitpoint, {state = 'closed', closed_at = waits.x.at, close_reason = reason})
end

-- Binds a waitpoint of a program of the contract to a suspension, whose timeout it shows as its expiry.
function suspending.activate(waitpoint, suspension_id, at, timeout_at)
  put_waitpoint(waitpoint, {suspension_id = suspension_id, activated_at = at, expires_with = 1})
  put_waitpoint(waitpoint, {expires_at = timeout_at or ''})
end

-- Forgets those that are closed.
function suspending.drop_closed(waits)
  local kept, dropped = {}, {}
  for _, waitpoint in ipairs(waits.waitpoints) do
    local list = is_open(waitpoint) and kept or dropped
    list[#list + 1] = waitpoint
  end
  waits.waitpoints, waits.dropped = kept, dropped
end

-- Closes those whose time is over.
function suspending.expire_waitpoints(waits)
  for _, waitpoint in ipairs(waits.waitpoints) do
    if is_open(waitpoint) and not suspending.is_open(waits, waitpoint) then
      suspending.close_waitpoint(waits, waitpoint,
        waitpoint.f.state == 'pending' and 'never_committed' or 'expired')
    end
  end
end

-- As a reply: id and fields.
function suspending.shown(waitpoint)
  local f, flat = waitpoint.f, {}
  for _, field in ipairs({'waitpoint_key', 'state', 'created_at', 'closed_at', 'close_reason',
    'signal_count', 'matched_signal_count', 'question'}) do
    if f[field] then
      flat[#flat + 1] = field
      flat[#flat + 1] = tostring(f[field])
    end
  end
  if expiry_of(waitpoint) then
    flat[#flat + 1] = 'expires_at'
    flat[#flat + 1] = f.expires_at
  end
  return {waitpoint.id, flat}
end

-- ---- Suspensions ----------------------------------------------------------------------------------

function suspending.is_suspension_open(waits)
  return waits.suspension ~= nil and waits.suspension.suspension_id ~= nil
    and waits.suspension.closed_at == nil
end

local function forget_suspension(waits)
  local key, idempotency_key = keys.suspension(waits.x), waits.suspension.idempotency_key
  server.call('UNLINK', key, key .. ':state', key .. ':satisfied_set:signals')
  if idempotency_key then server.call('UNLINK', keys.suspend_dedup(waits.x, idempotency_key)) end
end

-- Makes the newest suspension, when nothing can be refused any more. `waitpoints` are those that it binds; they
-- may repeat. `state` is for the handler.
function suspending.start(waits, fields, waitpoints, state)
  local ids = {}
  for i, waitpoint in ipairs(waitpoints) do
    ids[i] = waitpoint.id
    put_waitpoint(waitpoint, {state = 'active'})
  end
  if waits.suspension then forget_suspension(waits) end
  waits.suspension, waits.suspension_changed, waits.tally, waits.condition = {}, {}, nil, nil
  if state ~= '' then server.call('SET', keys.suspension(waits.x) .. ':state', state) end
  put_suspension(waits, fields)
  put_suspension(waits, {created_at = waits.x.at})
  if #ids > 0 then
    put_suspension(waits, {waitpoints = table.concat(ids, separator), waitpoint_id = ids[1]})
  end
end

function suspending.bound(waits)
  local bound = {}
  for id in string.gmatch(waits.suspension.waitpoints or '', '[^\31]+') do
    bound[#bound + 1] = suspending.find(waits, id)
  end
  return bound
end

local function condition_of(waits)
  if not waits.condition then waits.condition = cjson.decode(waits.suspension.condition) end
  return waits.condition
end

local function tally_of(waits)
  if not waits.tally then
    local stored = waits.suspension.tally
    waits.tally = stored and cmsgpack.unpack(stored) or {}
  end
  return waits.tally
end

function suspending.sizes(waits)
  return conditions.sizes(condition_of(waits), tally_of(waits))
end

local function has_condition_hashes(waits)
  return waits.suspension.resume_condition_json ~= nil
end

function suspending.write_conditions(waits)
  local decoded = policy.decode(waits.suspension.resume_condition_json)
  local fields = conditions.describe(condition_of(waits), decoded, tally_of(waits))
  for _, field in ipairs({'closed', '0', 'updated_at', waits.x.at}) do fields[#fields + 1] = field end
  for _, waitpoint in ipairs(suspending.bound(waits)) do
    local key = keys.waitpoint(waits.x.tag, waitpoint.id) .. ':condition'
    server.call('DEL', key)
    write_fields(key, fields)
  end
end

local function write_progress(waits, signal)
  if not has_condition_hashes(waits) then return end
  local x, fields = waits.x, conditions.progress(condition_of(waits), tally_of(waits), signal.id)
  if not fields then
    server.call('SADD', keys.suspension(x) .. ':satisfied_set:signals', signal.id)
    return
  end
  for _, waitpoint in ipairs(suspending.bound(waits)) do
    write_fields(keys.waitpoint(x.tag, waitpoint.id) .. ':condition', fields)
  end
end

-- Closes one waitpoint; others of its suspension still count.
function suspending.close_one(waits, waitpoint, reason)
  local was_active = waitpoint.f.state == 'active'
  suspending.close_waitpoint(waits, waitpoint, reason)
  if not was_active or not has_condition_hashes(waits) then return end
  server.call('HSET', keys.waitpoint(waits.x.tag, waitpoint.id) .. ':condition', 'closed', '1',
    'closed_at', waits.x.at, 'closed_reason', reason)
end

-- The suspension is over and its waitpoints are closed. `signal` is the one that closed it, if one did.
function suspending.close(waits, reason, signal)
  local x = waits.x
  put_suspension(waits, {closed_at = x.at, close_reason = reason})
  for _, waitpoint in ipairs(suspending.bound(waits)) do
    if is_open(waitpoint) then
      suspending.close_waitpoint(waits, waitpoint, reason)
      if waitpoint.f.waitpoint_token and reason == 'resumed' then
        put_waitpoint(waitpoint, {satisfied_at = x.at})
      end
    end
  end
  if not has_condition_hashes(waits) then return end
  if reason == 'resumed' then put_suspension(waits, {satisfied_at = x.at}) end
  waits.closed_conditions = signal and 'satisfied' or reason
  if signal and not condition_of(waits).plain then
    local satisfiers = keys.suspension(x) .. ':satisfied_set:signals'
    put_suspension(waits, {
      closer_signal_id = signal.id,
      all_satisfier_signals = cjson.encode(server.call('SMEMBERS', satisfiers)),
    })
    server.call('DEL', satisfiers)
  end
end

local of_a_suspension = {'current_suspension_id', 'current_waitpoint_id', 'suspension_timeout_at'}

local function put_wake(waits, cause, reason)
  local x = waits.x
  execution.put(x, {
    wake = table.concat({cause, x.at, waits.suspension.suspension_id, reason or ''}, separator),
  })
end

-- The execution waits for a worker again, after a delay. `cause` is signals, timeout or operator.
function suspending.resume(waits, cause, close_reason, delay, signal, reason)
  local x = waits.x
  suspending.close(waits, close_reason, signal)
  put_wake(waits, cause, reason)
  if delay > 0 then
    execution.become_delayed(x, string.format('%.0f', x.now + delay), 'waiting_for_resume_delay',
      'attempt_interrupted')
    execution.put(x, {
      blocking_detail = string.format('resume delay %.0fms', delay)
        .. (signal and ' after signal ' .. signal.name or ''),
    })
  else
    execution.become_waiting(x, 'attempt_interrupted')
  end
  execution.drop_all(x, of_a_suspension)
end

-- Takes the lease; the same attempt can resume, with the time that it has left.
function suspending.suspend(waits)
  local x, suspension = waits.x, waits.suspension
  pausing.keep_time_left(x)
  attempts.pause(x, suspension.suspension_id)
  leases.clear(x)
  execution.drop(x, 'wake')
  execution.become_suspended(x, suspension.reason_code)
  execution.put(x, {current_suspension_id = suspension.suspension_id})
  execution.put_text(x, 'current_waitpoint_id', suspension.waitpoint_id)
  execution.put_text(x, 'suspension_timeout_at', suspension.timeout_at)
end

-- Signals that had arrived before are enough: the lease goes on.
function suspending.satisfy_at_once(waits, signal)
  put_suspension(waits, {satisfied_at_once = 1})
  put_wake(waits, 'signals')
  suspending.close(waits, 'resumed', signal)
end

-- Its timeout has passed: an operator must resume it.
function suspending.escalate(waits)
  local x = waits.x
  local timeout_at = waits.suspension.timeout_at
  put_suspension(waits, {reason_code = 'waiting_for_operator_review', escalated = 1})
  waits.suspension.timeout_at = nil
  server.call('HDEL', keys.suspension(x), 'timeout_at')
  if has_condition_hashes(waits) then put_suspension(waits, {timeout_behavior = ''}) end
  execution.put(x, {
    blocking_reason = 'paused_by_operator', last_mutation_at = x.at,
    blocking_detail = 'suspension escalated: timeout at ' .. timeout_at,
  })
  execution.drop(x, 'suspension_timeout_at')
end

-- The execution has ended in a way that programs of the contract see: nothing of it stays open.
function suspending.close_all(x, reason)
  if not x.f.has_waits then return end
  local waits = suspending.load(x)
  if suspending.is_suspension_open(waits) then suspending.close(waits, reason) end
  for _, waitpoint in ipairs(waits.waitpoints) do
    if is_open(waitpoint) then suspending.close_waitpoint(waits, waitpoint, reason) end
  end
  suspending.save(waits)
end

-- Counts a signal (lib/signals.lua) for the open suspension. Returns its effect.
function suspending.count(waits, signal)
  local ignored = conditions.count_signal(condition_of(waits), tally_of(waits), signal)
  if ignored then return ignored end
  waits.tally_changed = true
  signal.counted_for = waits.suspension.suspension_id
  write_progress(waits, signal)
  -- An escalated suspension waits for an operator; the handler sees which signals came.
  local enough = conditions.is_satisfied(waits.condition, waits.tally) and not waits.suspension.escalated
  return enough and 'resume_condition_satisfied' or 'appended_to_waitpoint'
end

-- Programs of the contract see when the last signal came.
function suspending.note_signal(waits, signal)
  put_waitpoint(signal.waitpoint, {last_signal_at = waits.x.at})
  if waits.suspension then put_suspension(waits, {last_signal_at = waits.x.at}) end
end

return suspending
