-- An execution in the making: its core fields, and what changed about them. A function loads it, puts
-- fields, and saves it in one go.
local execution = {}

local function object(core_key, tag, id, fields, now)
  return {key = core_key, tag = tag, id = id, now = now, f = fields, changed = {}}
end

-- nil if there is none.
function execution.load(core_key, now)
  local flat = call('HGETALL', core_key)
  if #flat == 0 then return nil end
  local fields = {}
  for i = 1, #flat, 2 do
    if flat[i + 1] ~= '' then fields[flat[i]] = flat[i + 1] end  -- other programs store '' for none
  end
  local tag, id = keys.parse_core(core_key)
  local x = object(core_key, tag, id, fields, now)
  x.places, x.holder, x.ended_as = placement.of(tag, fields), placement.holder(fields), nil
  if fields.lifecycle_phase == 'terminal' then x.ended_as = fields.public_state end
  return x
end

function execution.new(core_key, now)
  local tag, id = keys.parse_core(core_key)
  local x = object(core_key, tag, id, {}, now)
  x.places = {}
  return x
end

function execution.put(x, values)
  for field, value in pairs(values) do
    x.f[field] = value
    x.changed[field] = true
  end
end

function execution.drop(x, ...)
  for _, field in ipairs({...}) do
    if x.f[field] ~= nil then
      x.f[field] = nil
      x.changed[field] = true
    end
  end
end

-- An empty text is no value.
function execution.put_text(x, field, text)
  if text == nil or text == '' then
    execution.drop(x, field)
  else
    execution.put(x, {[field] = text})
  end
end

function execution.count(x, field)
  return tonumber(x.f[field] or 0)
end

local function add_to_total(x, what, by)
  local totals = keys.index(x.tag, 'totals')
  local field = placement.queue(x.f) .. '\31' .. what
  if call('HINCRBY', totals, field, by) == 0 then call('HDEL', totals, field) end
end
execution.add_to_total = add_to_total

-- Writes what changed, the indexes included.
function execution.save(x)
  local set, gone = {}, {}
  for field in pairs(x.changed) do
    local value = x.f[field]
    if value == nil then
      gone[#gone + 1] = field
    else
      set[#set + 1] = field
      set[#set + 1] = value
    end
  end
  if #set > 0 then call('HSET', x.key, unpack(set)) end
  if #gone > 0 then call('HDEL', x.key, unpack(gone)) end

  local places, holder = placement.of(x.tag, x.f), placement.holder(x.f)
  placement.move(x.tag, x.id, x.places, places)
  if x.holder ~= holder then
    if x.holder then call('SREM', keys.worker_leases(x.tag, x.holder), x.id) end
    if holder then call('SADD', keys.worker_leases(x.tag, holder), x.id) end
  end
  local ended_as = x.f.lifecycle_phase == 'terminal' and x.f.public_state or nil
  if x.ended_as ~= ended_as then
    if x.ended_as then add_to_total(x, x.ended_as, -1) end
    if ended_as then add_to_total(x, ended_as, 1) end
  end
  x.places, x.holder, x.ended_as, x.changed = places, holder, ended_as, {}
end

-- True while nobody has it and any worker (with the capabilities) may: also when a grant ran out.
function execution.is_claimable(x)
  local f = x.f
  local free = f.lifecycle_phase == 'runnable' and f.eligibility_state == 'eligible_now'
    or f.lifecycle_phase == 'active' and f.ownership_state ~= 'leased'
  return free and not (f.grant_expires_at and tonumber(f.grant_expires_at) > x.now)
end

-- ---- The state vector ---------------------------------------------------------------------------

local function become(x, phase, ownership, eligibility, blocking, outcome, attempt, public)
  execution.put(x, {
    lifecycle_phase = phase,
    ownership_state = ownership,
    eligibility_state = eligibility,
    blocking_reason = blocking,
    terminal_outcome = outcome,
    attempt_state = attempt or x.f.attempt_state,
    public_state = public,
    last_transition_at = x.now,
    last_mutation_at = x.now,
  })
  execution.drop(x, 'blocking_detail')
end

function execution.become_waiting(x, attempt_state)
  become(x, 'runnable', 'unowned', 'eligible_now', 'waiting_for_worker', 'none', attempt_state,
    'waiting')
  execution.drop(x, 'delay_until')
end

function execution.become_delayed(x, due, why, attempt_state)
  become(x, 'runnable', 'unowned', 'not_eligible_until_time', why, 'none', attempt_state, 'delayed')
  execution.put(x, {delay_until = due})
end

function execution.become_waiting_children(x, attempt_state)
  become(x, 'runnable', 'unowned', 'blocked_by_dependencies', 'waiting_for_children', 'none',
    attempt_state, 'waiting_children')
  execution.put(x, {blocking_detail = 'waiting for child executions to complete'})
end

function execution.become_blocked(x, eligibility, reason, public)
  become(x, 'runnable', 'unowned', eligibility, reason, 'none', nil, public)
end

function execution.become_active(x)
  become(x, 'active', 'leased', 'not_applicable', 'none', 'none', 'running_attempt', 'active')
end

-- The worker lost its lease; it counts as active until another one has it.
function execution.become_lost(x, ownership)
  become(x, 'active', ownership, 'not_applicable', 'waiting_for_worker', 'none',
    'attempt_interrupted', 'active')
end

local public_outcome = {success = 'completed'}

function execution.become_ended(x, outcome)
  local attempted = x.f.current_attempt_index ~= nil
  become(x, 'terminal', 'unowned', 'not_applicable', 'none', outcome,
    attempted and 'attempt_terminal' or nil, public_outcome[outcome] or outcome)
  execution.put(x, {completed_at = x.now})
  execution.drop(x, 'delay_until', 'grant_expires_at', 'granted_to', 'attempt_left_ms')
end
