-- A change of a flow and several of its nodes in the making, as core/flows/draft.cpp has it. A draft has
--   flow       changed in place
--   order      the nodes that were read, each once; x.event is the event of a change
--   effects    work that is left for further calls
--   event      of the flow
--   settled_last  a node that is settled after everything else
local flow_draft = {}

local step_max = 100  -- edges that one call looks at
local walk_max = 25   -- nodes of a walk, each of which may end, with all that means

function flow_draft.begin(flow, by_contract)
  return {
    flow = flow, walk_before = tonumber(flow.f.walk), nodes = {}, order = {},
    to_align = {}, to_cancel_rest = {}, budget = step_max, effects = {},
    by_contract = by_contract or flows.is_of_contract(flow),
  }
end

local function add(draft, x)
  draft.nodes[x.id] = x
  draft.order[#draft.order + 1] = x
  x.draft = draft
  return x
end
flow_draft.add = add

-- nil if it is gone.
local function node(draft, id)
  local known = draft.nodes[id]
  if known then return known end
  local x = execution.load(keys.of_execution(draft.flow.tag, id, 'core'), draft.flow.now)
  if not x then return nil end
  x.by_contract = draft.by_contract
  return add(draft, x)
end
flow_draft.node = node

-- ---- Nodes ----------------------------------------------------------------------------------------

local function add_effect(draft, effect)
  draft.effects[#draft.effects + 1] = effect
end

-- The flow that a node is does not go on after the end of that run, unless it caused that end.
local function leave_subflow(draft, x)
  local state = x.f.public_state
  if flows.has_subflow(x) and state ~= 'completed' and state ~= 'failed' then
    add_effect(draft, flows.effect_of_subflow(x, execution.count(x, 'subflow_turn') + 1))
  end
end

local function note_end(draft, x)
  local flow, f = draft.flow, x.f
  flows.count_end(flow, f, f.public_state, 1)
  draft.to_align[#draft.to_align + 1] = x.id
  leave_subflow(draft, x)
  local fails = flows.is_failure[f.public_state] and not f.is_optional and not f.as_rest
  if not fails or flows.has_state_of_end(flow) then return end
  if not flow.f.reason then
    flows.put(flow, {reason = 'node ' .. (f.node or x.id) .. ' ' .. f.public_state})
  end
  if flow.f.on_failure == 'stop' and not flow.f.is_stopping then
    flows.put(flow, {is_stopping = 1, walk = 0})
  end
end

flow_draft.note_end = note_end

local function settle(draft, x)
  local was_blocked, phase, turn = flows.is_blocked(x), x.f.map_phase, x.f.subflow_turn
  local event = flows.settle(x, draft.flow)
  if x.f.map_phase ~= phase then add_effect(draft, flows.effect_of_map(x)) end
  if x.f.subflow_turn ~= turn then add_effect(draft, flows.effect_of_subflow(x, x.f.subflow_turn)) end
  if not event then return end
  x.event = event
  if flows.has_ended(x) then return note_end(draft, x) end
  local count = execution.count
  local decided = count(x, 'satisfied') + count(x, 'impossible') + count(x, 'children')
  local open = decided < flow_edges.count_in(x.f)
  if was_blocked and not flows.is_blocked(x) and x.f.cancel_rest and open then
    draft.to_cancel_rest[#draft.to_cancel_rest + 1] = x.id
  end
end
flow_draft.settle = settle

-- Takes over an execution that a command of its own changed.
local function take(draft, x)
  add(draft, x)
  local ended = flows.has_ended(x)
  if ended and not x.ended_as then
    note_end(draft, x)
  elseif x.ended_as and not ended then
    flows.count_end(draft.flow, x.f, x.ended_as, -1)
    execution.drop(x, 'as_rest')
    draft.to_align[#draft.to_align + 1] = x.id
    flows.wait_again(x)
    settle(draft, x)
  elseif not ended then
    settle(draft, x)
  end
end
flow_draft.take = take

-- Runs a node once more.
local function start_anew(draft, x, reason)
  if flows.has_ended(x) then
    flows.count_end(draft.flow, x.f, x.f.public_state, -1)
  else
    leave_subflow(draft, x)
  end
  if attempts.is_open(x) then
    attempts.finish(x, {
      state = 'ended_cancelled', reason = 'redriven: ' .. reason, stream = 'attempt_cancelled',
    })
  end
  if x.by_contract then suspending.close_all(x, 'cancelled') end
  if x.f.grant_expires_at then grants.remove(x) end
  leases.clear(x)
  replaying.start(x, reason, '')
  execution.become_waiting_children(x)
  execution.drop(x, 'as_rest', 'lost_as', 'attempt_left_ms', 'current_suspension_id', 'current_waitpoint_id',
    'suspension_timeout_at')
  flows.forget_run(x)
  x.event, x.flow_outcome = 'reset', nil
  draft.to_align[#draft.to_align + 1] = x.id
end

function flow_draft.start_anew(draft, x, reason)
  start_anew(draft, x, reason)
  settle(draft, x)
end

function flow_draft.reset(draft, id, reason)
  flow_draft.start_anew(draft, node(draft, id), reason)
end

local function remove_node(draft, id)
  local x = execution.load(keys.of_execution(draft.flow.tag, id, 'core'), draft.flow.now)
  if not x then return end
  removal.remove(x)  -- ends also the membership in a flow of the contract
  x.event, x.is_removed = 'removed', true
  add(draft, x)
end

-- Brings the next nodes of the walk in line with the flow.
function flow_draft.advance(draft)
  local flow = draft.flow
  local f, first = flow.f, tonumber(flow.f.walk)
  if not first then return end
  local ids = flows.members(flow, first, walk_max)
  for _, id in ipairs(ids) do
    if f.is_removing then
      remove_node(draft, id)
    else
      local x = node(draft, id)
      if x then
        if f.is_redriving and flows.is_failure[x.f.public_state] and not x.f.as_rest then
          start_anew(draft, x, 'redrive of failed nodes')
        end
        settle(draft, x)
      end
    end
  end
  flows.put(flow, {walk = first + #ids})
  if #ids < walk_max then
    -- Lists wait until all nodes that run again are reset; another walk lets them go on.
    local again = f.is_redriving
    flows.drop(flow, 'walk', 'is_redriving')
    if again then flows.put(flow, {walk = 0}) end
  end
end

-- ---- Edges ----------------------------------------------------------------------------------------

local count_of = {s = 'satisfied', i = 'impossible'}
local any_end = {completed = true, failed = true, expired = true, cancelled = true, skipped = true}
local satisfied_by = {
  s = {completed = true}, g = {completed = true}, f = flows.is_failure, a = any_end, c = any_end, t = any_end,
}

local function target_of(edge, upstream, x)
  if edge.on == 't' and edge.state == 's' then return 's' end
  if not flows.has_ended(upstream) then return 'p' end
  if edge.on == 'g' and tonumber(x.f.spawned_in) ~= execution.count(upstream, 'replay_count') then return 'i' end
  return satisfied_by[edge.on][upstream.f.public_state] and 's' or 'i'
end

local function add_to_count(x, field, by)
  execution.put(x, {[field] = execution.count(x, field) + by})
end

-- An edge that was in one state is in another one.
local function recount(x, edge, target)
  if edge.on == 'c' then
    add_to_count(x, 'open_children', (target == 'p' and 1 or 0) - (edge.state == 'p' and 1 or 0))
    return
  end
  if edge.state ~= 'p' then add_to_count(x, count_of[edge.state], -1) end
  if target ~= 'p' then add_to_count(x, count_of[target], 1) end
end

local function is_aligned(edge, upstream, x)
  local by_this_run = edge.state == 'p' or edge.on == 't' or edge.run == execution.count(upstream, 'replay_count')
  return by_this_run and edge.state == target_of(edge, upstream, x)
end

local function align(draft, x, index, upstream)
  local edge = flow_edges.get(x, index)
  if is_aligned(edge, upstream, x) then return end
  local target = target_of(edge, upstream, x)
  local run = execution.count(upstream, 'replay_count')
  recount(x, edge, target)
  -- A node that waits for its children goes on waiting if one of them runs again, unless their results are being
  -- collected.
  local may_wait = edge.on == 'c' and x.f.map_phase ~= 'c' and flows.is_blocked(x) or flows.is_untouched(x)
  if edge.state ~= 'p' and not may_wait then
    start_anew(draft, x, (upstream.f.node or upstream.id) .. ' runs again')
  end
  edge.state, edge.run = target, run
  flow_edges.put(x, index, edge)
  settle(draft, x)
end

-- Edges of a new node, from nodes that may have ended before.
function flow_draft.align_new(draft, x)
  for index = 0, flow_edges.count_in(x.f) - 1 do
    local upstream = node(draft, created.id_of(draft.flow.tag, flow_edges.get(x, index).uuid))
    if upstream and flows.has_ended(upstream) then align(draft, x, index, upstream) end
  end
end

-- A node that began depends on a new one as well, or on one that it depended on before.
function flow_draft.add_child(draft, parent, child)
  local tag, index = draft.flow.tag, flow_edges.count_in(parent.f)
  if flow_edges.leads_to(child, parent) then return end
  flow_edges.add_from(parent, flow_edges.pack_from(created.raw_of(tag, child.id), 'c'))
  flow_edges.add_to(child, flow_edges.pack_to(created.raw_of(tag, parent.id), index))
  add_to_count(parent, 'children', 1)
  add_to_count(parent, 'open_children', 1)
  flows.put(draft.flow, {edge_count = flows.count(draft.flow, 'edge_count') + 1})
  if flows.has_ended(child) then align(draft, parent, index, child) end
end

-- Set by lib/contract_edges.lua: the same for the edges that programs of the contract made.
flow_draft.align_contract_edges = nil

-- Brings the edges out of a node in line with it, from a place on. Returns where to go on; nil at the end.
function flow_draft.align_edges(draft, id, first)
  local upstream = node(draft, id)
  if upstream and flows.is_of_contract(draft.flow) then
    return flow_draft.align_contract_edges(draft, upstream, first)
  end
  if not upstream or flow_edges.count_out(upstream.f) == 0 then return nil end
  local slice = draft.budget
  if slice == 0 then return first end
  local ids, indexes = flow_edges.out(upstream, first, slice)
  draft.budget = slice - #ids
  for i, each in ipairs(ids) do
    local x = node(draft, each)
    if x then align(draft, x, indexes[i], upstream) end
  end
  if #ids == slice then return first + slice end
end

local function waits_for(draft, id, index)
  local x = draft.nodes[id]
  if x then return flow_edges.get(x, index).state == 'p' and flows.is_blocked(x) end
  local state, phase, eligibility = flow_edges.look(draft.flow.tag, id, index)
  return state == 'p' and phase == 'runnable' and eligibility == 'blocked_by_dependencies'
end

-- A node with very many dependents is needed by one of them, in all likelihood.
local function is_needed_by_others(draft, upstream, except)
  local ids, indexes = flow_edges.out(upstream, 0, step_max)
  draft.budget = math.max(0, draft.budget - #ids)
  if #ids == step_max then return true end
  for i, id in ipairs(ids) do
    if id ~= except and waits_for(draft, id, indexes[i]) then return true end
  end
  return false
end

-- Cancels the nodes before a node that started without them, from a place among its edges on. Returns where to go
-- on; nil at the end.
function flow_draft.cancel_rest(draft, id, first)
  local started = node(draft, id)
  local count = started and flow_edges.count_in(started.f) or 0
  local index = first
  while index < count and draft.budget > 0 do
    draft.budget = draft.budget - 1
    local edge = flow_edges.get(started, index)
    if edge.state == 'p' then
      local x = node(draft, created.id_of(draft.flow.tag, edge.uuid))
      if x and not flows.has_ended(x) and not is_needed_by_others(draft, x, id) then
        execution.put(x, {as_rest = 1})
        ending.end_node(x, 'cancelled', (started.f.node or id) .. ' started without it')
        x.event = 'cancelled'
        note_end(draft, x)
      end
    end
    index = index + 1
  end
  if index < count then return index end
end

-- Cancels these nodes of the flow, as far as they have not ended. Returns how many.
function flow_draft.cancel_all(draft, ids, reason, as_rest)
  local flow, cancelled = draft.flow, 0
  for _, id in ipairs(ids) do
    local is_here = string.sub(id, 1, #flow.tag + 1) == flow.tag .. ':'
    local x = is_here and node(draft, id)
    if x and x.f.flow_id == flow.id and not flows.has_ended(x) then
      if as_rest then execution.put(x, {as_rest = 1}) end
      ending.end_node(x, 'cancelled', reason)
      x.event = 'cancelled'
      note_end(draft, x)
      cancelled = cancelled + 1
    end
  end
  return cancelled
end

-- Tells apart the causes for which the edges out of a node are brought in line: two for each of its runs, and one
-- more if it has ended. A later cause is thus another effect, which stays when an earlier one is settled.
local function turn_of(x)
  return 2 * execution.count(x, 'replay_count') + (flows.has_ended(x) and 1 or 0)
end

local function align_queued(draft)
  local aligned, cancelled = 0, 0
  while aligned < #draft.to_align or cancelled < #draft.to_cancel_rest do
    local effect
    if aligned < #draft.to_align then
      aligned = aligned + 1
      local id = draft.to_align[aligned]
      effect = flow_draft.align_edges(draft, id, 0) and 'resolve_edges ' .. id .. ' ' .. turn_of(draft.nodes[id])
    else
      cancelled = cancelled + 1
      local id = draft.to_cancel_rest[cancelled]
      local run = execution.count(draft.nodes[id], 'replay_count')
      effect = flow_draft.cancel_rest(draft, id, 0) and 'cancel_rest ' .. id .. ' ' .. run
    end
    if effect then draft.effects[#draft.effects + 1] = effect end
  end
  draft.to_align, draft.to_cancel_rest = {}, {}
end

-- ---- Repairs --------------------------------------------------------------------------------------

-- True if an edge into a node was repaired.
local function check_edge(draft, x, index)
  local edge = flow_edges.get(x, index)
  local upstream = node(draft, created.id_of(draft.flow.tag, edge.uuid))
  if not upstream or is_aligned(edge, upstream, x) then return false end
  local effect = 'resolve_edges ' .. upstream.id .. ' ' .. turn_of(upstream)
  if effects.has(draft.flow.tag, effect) then return false end
  align(draft, x, index, upstream)
  return true
end

-- True if the node counted its edges wrongly.
local function recount_edges(x)
  local right = {satisfied = 0, impossible = 0, children = 0, open_children = 0}
  flow_edges.each_record(flow_edges.records(x, 0, step_max), function(edge)
    local field = count_of[edge.state]
    if edge.on == 'c' then
      right.children = right.children + 1
      field = edge.state == 'p' and 'open_children'
    end
    if field then right[field] = right[field] + 1 end
  end)
  local repaired = false
  for field, count in pairs(right) do
    if execution.count(x, field) ~= count then
      execution.put(x, {[field] = count})
      repaired = true
    end
  end
  return repaired
end

-- True if the effect that the phase of its list needs was lost.
local function renew_effect_of_map(draft, x)
  local phase = x.f.map_phase
  if phase ~= 'a' and phase ~= 'c' then return false end
  local effect = flows.effect_of_map(x)
  for _, emitted in ipairs(draft.effects) do
    if emitted == effect then return false end
  end
  if effects.has(draft.flow.tag, effect) then return false end
  draft.effects[#draft.effects + 1] = effect
  x.event = 'waiting_children'
  return true
end

-- Repairs a node that waits, and one slice of the edges into it. Returns how many repairs, and where to go on; nil at
-- the end.
function flow_draft.check(draft, x, first)
  local repaired, count = 0, flow_edges.count_in(x.f)
  local function note(is_repair)
    if is_repair then repaired = repaired + 1 end
  end
  if count <= step_max then note(recount_edges(x)) end  -- more could not be counted in one step
  local stop = math.min(count, first + step_max)
  for index = first, stop - 1 do
    if flows.is_blocked(x) then note(check_edge(draft, x, index)) end
  end
  if not flows.is_blocked(x) then return repaired end
  if stop < count then return repaired, stop end
  local event = x.event
  settle(draft, x)
  note(x.event ~= event)
  if flows.is_blocked(x) then note(renew_effect_of_map(draft, x)) end
  return repaired
end

-- ---- The result -----------------------------------------------------------------------------------

local event_of_end = {
  completed = 'flow_completed', failed = 'flow_failed', cancelled = 'flow_cancelled', expired = 'flow_expired',
}

-- The flow ends if all its nodes have.
local function end_flow(draft)
  local flow = draft.flow
  local state = flows.end_of(flow)
  if not state then return end
  flows.put(flow, {public_flow_state = state, ended_at = flow.at})
  draft.event = event_of_end[state]
  if not flow.f.parent_node then return end
  add_effect(draft, string.format('end_subflow %s %d %s %d', flow.f.parent_node, flows.count(flow, 'parent_run'),
    flow.id, flows.count(flow, 'generation')))
end

local function save_flow(draft)
  local flow = draft.flow
  if flow.f.is_removing and not flow.f.walk then return flows.remove(flow) end
  if draft.event or next(flow.changed) then flows.save(flow) end
end

-- Decides everything that follows, and writes it.
function flow_draft.finish(draft, event)
  local flow = draft.flow
  draft.event = event
  align_queued(draft)
  if draft.settled_last then
    settle(draft, draft.settled_last)
    align_queued(draft)
  end
  -- A walk that begins anew has an effect of its own: the one before it may be settled at any time.
  if tonumber(flow.f.walk) == 0 and draft.walk_before ~= 0 then
    if not flow.f.is_removing then
      flow_draft.advance(draft)
      align_queued(draft)
      if tonumber(flow.f.walk) == 0 then flow_draft.advance(draft) end
      align_queued(draft)
    end
    if flow.f.walk then draft.effects[#draft.effects + 1] = 'advance_flow ' .. flow.id end
  end
  for _, x in ipairs(draft.order) do
    if not x.is_removed and next(x.changed) then execution.write(x) end
  end
  end_flow(draft)
  effects.add_all(flow.tag, draft.effects)
  save_flow(draft)
end

-- A draft about the flow of a node, and the node; nil if either is gone.
function flow_draft.of_node(core_key, now)
  local x = execution.load(core_key, now)
  local flow = x and x.f.flow_id and flows.load(x.tag, x.f.flow_id, now)
  if not flow then return nil end
  local draft = flow_draft.begin(flow)
  return draft, add(draft, x)
end

-- Refuses to run a node once more that would be skipped again, or whose flow is ending.
function flow_draft.check_replay(x)
  if not x.f.flow_id then return nil end
  local flow = flows.load(x.tag, x.f.flow_id, x.now)
  if flow and flow.f.is_removing then return reply.refuse('execution_not_found') end
  if flow_edges.verdict(x.f) == 'skip' then return reply.refuse('execution_not_eligible', 'dependencies') end
  return flow and flows.check_rerun(flow)
end

-- A node changed: what it means for its flow, and for the nodes after it.
function execution.save_node(x)
  local ended = flows.has_ended(x)
  x.draft, x.event = nil, nil
  if flows.is_held(x) or x.ended_as and ended then return execution.write(x) end
  local flow = flows.load(x.tag, x.f.flow_id, x.now)
  if not flow then return execution.write(x) end
  x.reached = x.f.public_state
  local draft = flow_draft.begin(flow, x.by_contract)
  if x.ended_as then flows.reopen(flow) end
  take(draft, x)
  flow_draft.finish(draft)
end

return flow_draft
