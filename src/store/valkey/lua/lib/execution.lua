-- An execution in the making: its core fields, and what changed about them. A function loads it, puts
-- fields, and saves it in one go.
local execution = {}

-- `now` is a number, to count with; `at` the same time as it is stored. A program of the contract
-- (`by_contract`) finds everything written that the contract says, also what can be derived.
local function object(core_key, tag, id, fields, now)
  return {
    key = core_key, tag = tag, id = id, now = now, at = arguments.time_text(now), f = fields, changed = {},
  }
end

-- The fields of a core hash; nil if there is none.
function execution.read(core_key)
  local flat = server.call('HGETALL', core_key)
  if #flat == 0 then return nil end
  local fields = {}
  for i = 1, #flat, 2 do
    local value = flat[i + 1]
    if value ~= '' then fields[flat[i]] = value end  -- other programs store '' for none
  end
  return fields
end

-- What goes without saying: an execution of our own engine has three fields of the state vector only once they have said
-- something else, and a version only once that does not follow from its state.
local usual_outcome, usual_ownership = 'none', 'unowned'
local function usual_blocking(f)
  return f.eligibility_state == 'eligible_now' and 'waiting_for_worker' or 'none'
end

local function leave_out_usual(x)
  local f, changed = x.f, x.changed
  x.shows_version = x.shows_version or f.v ~= folded.version(f)
  if not x.shows_version then changed.v = nil end
  x.shows_blocking = x.shows_blocking or x.by_contract or f.blocking_reason ~= usual_blocking(f)
  x.shows_outcome = x.shows_outcome or x.by_contract or f.terminal_outcome ~= usual_outcome
  x.shows_ownership = x.shows_ownership or x.by_contract or f.ownership_state ~= usual_ownership
  if not x.shows_ownership then changed.ownership_state = nil end
  if not x.shows_blocking then changed.blocking_reason = nil end
  if not x.shows_outcome then changed.terminal_outcome = nil end
end

function execution.of_fields(core_key, fields, now)
  local tag, id = keys.parse_core(core_key)
  local x = object(core_key, tag, id, fields, now)
  x.shows_blocking, x.shows_outcome = fields.blocking_reason ~= nil, fields.terminal_outcome ~= nil
  x.shows_version = fields.v ~= nil
  fields.v = fields.v or folded.version(fields)
  fields.blocking_reason = fields.blocking_reason or usual_blocking(fields)
  fields.terminal_outcome = fields.terminal_outcome or usual_outcome
  x.shows_ownership = fields.ownership_state ~= nil
  fields.ownership_state = fields.ownership_state or usual_ownership
  x.places, x.holder = placement.of(fields), placement.holder(fields)
  x.held, x.is_stored = fields.admission, true
  if fields.lifecycle_phase == 'terminal' then x.ended_as = fields.public_state end
  return x
end

-- nil if there is none.
function execution.load(core_key, now)
  local fields = execution.read(core_key)
  return fields and execution.of_fields(core_key, fields, now)
end

function execution.new(core_key, now)
  local tag, id = keys.parse_core(core_key)
  local x = object(core_key, tag, id, {}, now)
  x.places = {}
  return x
end

function execution.put(x, values)
  local f, changed = x.f, x.changed
  for field, value in pairs(values) do
    f[field] = value
    changed[field] = true
  end
end

function execution.drop_all(x, fields)
  local f, changed = x.f, x.changed
  for i = 1, #fields do
    local field = fields[i]
    if f[field] ~= nil then
      f[field] = nil
      changed[field] = true
    end
  end
end

function execution.drop(x, ...)
  execution.drop_all(x, {...})
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

-- An execution keeps its admission to a quota while it has a grant or a lease. `freed` is an admission
-- that it has lost.
local function settle_admission(x)
  local f = x.f
  if f.admission and f.ownership_state ~= 'leased' and not f.grant_expires_at then
    execution.drop(x, 'admission')
  end
  if x.held and x.held ~= f.admission then
    x.freed = x.held
    effects.add_release(x, x.held)
  end
  x.held = f.admission
end

-- Set by lib/flow_draft.lua: saves a node of a flow, with what the change means for the flow and its other nodes.
execution.save_node = nil

-- Writes what changed, the indexes included; of a node also what follows from it.
function execution.save(x)
  if x.f.flow_id then return execution.save_node(x) end
  execution.write(x)
end

-- The state that a command brought it to, whatever its flow made of it then.
function execution.reached(x)
  return x.reached or x.f.public_state
end

local set, gone = {}, {}  -- the same for all: their first values are those of the hash in hand

-- Writes the fields that changed to a hash.
function execution.write_fields(key, f, changed)
  local values, fields = 0, 0
  for field in pairs(changed) do
    local value = f[field]
    if value == nil then
      fields = fields + 1
      gone[fields] = field
    else
      set[values + 1], set[values + 2] = field, value
      values = values + 2
    end
  end
  if values > 0 then server.call('HSET', key, unpack(set, 1, values)) end
  if fields > 0 then server.call('HDEL', key, unpack(gone, 1, fields)) end
end

-- Writes the execution alone. `v` counts the changes of an execution since it was made, so that
-- of two replies or events the older one is known.
function execution.write(x)
  local f = x.f
  if x.is_stored then f.v, x.changed.v = (f.v or 0) + 1, true end
  if x.held or f.admission then settle_admission(x) end
  leave_out_usual(x)
  local plain = plainness.of(f, x.shows_blocking or f.v and x.shows_version)
  if plain and f.lifecycle_phase == 'terminal' then plain = f.plain end  -- nothing reads it
  if f.plain ~= plain then f.plain, x.changed.plain = plain, true end
  execution.write_fields(x.key, f, x.changed)

  local places, holder = placement.of(x.f), placement.holder(x.f)
  placement.move(x.tag, placement.queue(x.f), x.id, x.places, places)
  if x.holder ~= holder then
    if x.holder then server.call('SREM', keys.worker_leases(x.tag, x.holder), x.id) end
    if holder then server.call('SADD', keys.worker_leases(x.tag, holder), x.id) end
  end
  local ended_as = x.f.lifecycle_phase == 'terminal' and x.f.public_state or nil
  if x.ended_as ~= ended_as then
    local queue = placement.queue(f)
    if x.ended_as then totals.add_ended(x.tag, queue, x.ended_as, -1) end
    if ended_as then totals.add_ended(x.tag, queue, ended_as, 1) end
  end
  x.places, x.holder, x.ended_as, x.changed, x.is_stored = places, holder, ended_as, {}, true
end

local open_eligibility = {
  eligible_now = true, blocked_by_budget = true, blocked_by_quota = true, blocked_by_route = true,
}

-- True while nobody has it and any worker may who has what it takes: also when a grant ran out, and while
-- it is blocked for want of a budget, a quota or a capable worker.
function execution.is_claimable(x)
  local f = x.f
  local free = f.lifecycle_phase == 'runnable' and open_eligibility[f.eligibility_state]
    or f.lifecycle_phase == 'active' and f.ownership_state ~= 'leased'
  return free and not (f.grant_expires_at and tonumber(f.grant_expires_at) > x.now)
end

-- ---- The state vector ---------------------------------------------------------------------------

-- `is_shown`: the start or the end of the execution is at the same time, and says it.
local function note_transition(x, is_shown)
  if is_shown and not x.f.last_transition_at and not x.by_contract then return end
  x.f.last_transition_at, x.changed.last_transition_at = x.at, true
end

-- Of an execution that is being created: its last transition and change are its creation.
function execution.forget_times(x)
  x.f.last_transition_at, x.changed.last_transition_at = nil, nil
  x.f.last_mutation_at, x.changed.last_mutation_at = nil, nil
end

local function become(x, phase, ownership, eligibility, blocking, outcome, attempt, public)
  local f, changed = x.f, x.changed
  if f.lifecycle_phase ~= phase then f.lifecycle_phase, changed.lifecycle_phase = phase, true end
  if f.ownership_state ~= ownership then f.ownership_state, changed.ownership_state = ownership, true end
  if f.eligibility_state ~= eligibility then
    f.eligibility_state, changed.eligibility_state = eligibility, true
  end
  if f.blocking_reason ~= blocking then f.blocking_reason, changed.blocking_reason = blocking, true end
  if f.public_state ~= public then f.public_state, changed.public_state = public, true end
  note_transition(x, phase == 'terminal' or phase == 'active' and not f.started_at)
  -- Without it, the last change is the last transition.
  if x.by_contract or f.last_mutation_at then
    f.last_mutation_at, changed.last_mutation_at = x.by_contract and x.at or nil, true
  end
  if f.terminal_outcome ~= outcome then f.terminal_outcome, changed.terminal_outcome = outcome, true end
  if attempt and f.attempt_state ~= attempt then f.attempt_state, changed.attempt_state = attempt, true end
  if f.blocking_detail then f.blocking_detail, changed.blocking_detail = nil, true end
end

function execution.become_waiting(x, attempt_state)
  become(x, 'runnable', 'unowned', 'eligible_now', 'waiting_for_worker', 'none', attempt_state,
    'waiting')
  if x.f.delay_until then execution.drop(x, 'delay_until') end
end

function execution.become_delayed(x, due, why, attempt_state)
  become(x, 'runnable', 'unowned', 'not_eligible_until_time', why, 'none', attempt_state, 'delayed')
  execution.put(x, {delay_until = due})
end

-- `due` is when it may begin at the earliest, once it need not wait any more.
function execution.become_waiting_children(x, attempt_state, due)
  become(x, 'runnable', 'unowned', 'blocked_by_dependencies', 'waiting_for_children', 'none',
    attempt_state, 'waiting_children')
  if x.by_contract then execution.put(x, {blocking_detail = 'waiting for child executions to complete'}) end
  execution.put_text(x, 'delay_until', due)
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

local blocking_of = {
  waiting_for_approval = 'waiting_for_approval',
  waiting_for_callback = 'waiting_for_callback',
  waiting_for_tool_result = 'waiting_for_tool_result',
  waiting_for_operator_review = 'paused_by_operator',
  manual_pause = 'paused_by_operator',
  paused_by_policy = 'paused_by_policy',
  paused_by_budget = 'waiting_for_budget',
}

function execution.become_suspended(x, reason_code)
  become(x, 'suspended', 'unowned', 'not_applicable', blocking_of[reason_code] or 'waiting_for_signal',
    'none', 'attempt_interrupted', 'suspended')
end

local public_outcome = {success = 'completed'}
local of_what_has_not_ended = {
  'delay_until', 'grant_expires_at', 'granted_to', 'attempt_left_ms',
  'current_suspension_id', 'current_waitpoint_id', 'suspension_timeout_at', 'lost_as',
}

function execution.become_ended(x, outcome)
  local attempted = folded.index(x.f) ~= nil
  become(x, 'terminal', 'unowned', 'not_applicable', 'none', outcome,
    attempted and 'attempt_terminal' or nil, public_outcome[outcome] or outcome)
  x.f.completed_at, x.changed.completed_at = x.at, true
  execution.drop_all(x, of_what_has_not_ended)
end

return execution
