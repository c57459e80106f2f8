-- Flows: their records, and the rules that everything else about them follows from. The same rules are in
-- core/flows/flow.cpp. A flow's core hash has, beside the fields of the contract,
--   completed, failed, cancelled, expired, skipped   how many nodes have ended so
--   failures       nodes that failed, expired or were cancelled, and are not optional
--   generation     counts redrives
--   on_failure     stop, if the failure of a node is to stop the others
--   result         the name of the node whose result is the flow's
--   budget_ids     that every node spends from
--   deadline, retention_ms, ended_at, reason, pause_reason, digest, idempotency_key, has_tags, v (see lib/execution.lua)
--   is_unsealed    it ended while it was being built
--   is_stopping    a node failed: only finalizers can start
--   is_redriving   the walk resets nodes that failed
--   is_removing    the walk removes the nodes, then the flow
--   parent_node, parent_run   the run of a node of another flow that this flow is
--   walk           nodes from this index on are still to be brought in line with the flow
-- The text `nodes` has the UUIDs of the nodes, 16 bytes each, in the order in which they were added. A flow that a
-- program of the contract made is `open` until it is cancelled: more nodes may come at any time.
local flows = {}

local building_max = 30 * 60000
local uuid_bytes = 16
local paused_detail = 'its flow is paused'

local terminal = {completed = true, failed = true, cancelled = true, expired = true}

flows.put, flows.drop, flows.count = execution.put, execution.drop, execution.count

function flows.has_state_of_end(flow)
  return terminal[flow.f.public_flow_state] == true
end

-- Made by a program of the contract.
function flows.is_of_contract(flow)
  return not flow.f.retention_ms
end

-- ---- Records --------------------------------------------------------------------------------------

-- When something acts on the flow.
local function due_of(f)
  if terminal[f.public_flow_state] then return nil end
  local due = tonumber(f.deadline)
  if f.public_flow_state == 'building' then
    due = math.min(due or math.huge, f.created_at + building_max)
  end
  return due
end

-- Its score among those to be removed, as that of executions.
local function retention_of(f)
  if not f.ended_at or f.is_removing then return nil end
  return f.ended_at + (f.retention_ms or placement.retention_default) - placement.retention_default
end

local function object(tag, id, fields, now)
  return {
    tag = tag, id = id, key = keys.flow(tag, id, 'core'), subject = tag .. ':' .. id, now = now,
    at = arguments.time_text(now), f = fields, changed = {},
  }
end

function flows.new(tag, id, fields, now)
  local flow = object(tag, id, {}, now)
  flows.put(flow, fields)
  return flow
end

-- nil if there is none.
function flows.load(tag, id, now)
  local flat = server.call('HGETALL', keys.flow(tag, id, 'core'))
  if #flat == 0 then return nil end
  local fields = {}
  for i = 1, #flat, 2 do
    local value = flat[i + 1]
    if value ~= '' then fields[flat[i]] = value end
  end
  local flow = object(tag, id, fields, now)
  flow.due, flow.retention = due_of(fields), retention_of(fields)
  return flow
end

-- As callers see it: a flow that is being removed is gone.
function flows.find(tag, id, now)
  local flow = flows.load(tag, id, now)
  return flow and not flow.f.is_removing and flow or nil
end

local function move(flow, index, before, after)
  if before == after then return end
  if after then
    server.call('ZADD', keys.index(flow.tag, index), after, flow.subject)
  else
    server.call('ZREM', keys.index(flow.tag, index), flow.subject)
  end
end

function flows.save(flow)
  local f = flow.f
  flows.put(flow, {v = flows.count(flow, 'v') + 1, last_mutation_at = flow.at})
  execution.write_fields(flow.key, f, flow.changed)
  local due, retention = due_of(f), retention_of(f)
  move(flow, 'flow_deadline', flow.due, due)
  move(flow, 'flow_retention', flow.retention, retention)
  -- It runs again, or is being removed: there is something to look after.
  if flow.retention and not retention then server.call('SADD', keys.index(flow.tag, 'flow_index'), flow.id) end
  flow.due, flow.retention, flow.changed = due, retention, {}
end

local parts = {'core', 'nodes', 'members', 'tags', 'summary', 'pending_cancels'}

-- After its nodes.
function flows.remove(flow)
  move(flow, 'flow_deadline', flow.due, nil)
  move(flow, 'flow_retention', flow.retention, nil)
  server.call('ZREM', keys.flows(flow.tag, flow.f.namespace or ''), flow.id)
  server.call('SREM', keys.index(flow.tag, 'flow_index'), flow.id)
  server.call('ZREM', keys.index(flow.tag, 'cancel_backlog'), flow.id)
  local gone = {}
  for i, part in ipairs(parts) do gone[i] = keys.flow(flow.tag, flow.id, part) end
  server.call('UNLINK', unpack(gone))
end

-- The ids of the nodes from an index on, in order.
function flows.members(flow, first, max)
  local uuids = server.call('GETRANGE', keys.flow(flow.tag, flow.id, 'nodes'), first * uuid_bytes,
    (first + max) * uuid_bytes - 1)
  local ids = {}
  for i = 1, #uuids, uuid_bytes do
    ids[#ids + 1] = created.id_of(flow.tag, string.sub(uuids, i, i + uuid_bytes - 1))
  end
  return ids
end

-- The UUID in a flow's id, as 16 bytes.
function flows.raw_of(id)
  return created.raw_of('', ':' .. id)
end

-- The UUID of a node as core::node_id makes it: version 5, of the flow's and the node's name.
function flows.node_uuid(flow_uuid, name)
  local hex = string.sub(server.sha1hex(flow_uuid .. name), 1, 32)
  local raw = string.gsub(hex, '%x%x', function(pair) return string.char(tonumber(pair, 16)) end)
  local function with_bits(place, keep, set)
    return string.char(string.byte(raw, place) % keep + set)
  end
  return string.sub(raw, 1, 6) .. with_bits(7, 16, 0x50) .. string.sub(raw, 8, 8) .. with_bits(9, 64, 0x80)
    .. string.sub(raw, 10)
end

-- For a reply: the fields of the core, with its partition, and the tags, both flat.
function flows.shown(flow)
  local flat = {'partition', string.match(flow.tag, '%d+')}
  for field, value in pairs(flow.f) do
    flat[#flat + 1], flat[#flat + 2] = field, tostring(value)
  end
  return flat, flow.f.has_tags and server.call('HGETALL', keys.flow(flow.tag, flow.id, 'tags')) or {}
end

function flows.not_found()
  return reply.refuse('flow_not_found')
end

-- It does not run, because it is being built or has ended.
function flows.not_running(flow)
  local state = flow.f.public_flow_state
  if terminal[state] then return reply.refuse('flow_already_terminal', 'ended', flow.id, state) end
  return reply.refuse('flow_not_sealed', 'building', flow.id, state)
end

-- Refuses to run nodes that have ended once more.
function flows.check_rerun(flow)
  local f = flow.f
  local state = f.public_flow_state
  if state == 'building' then return flows.not_running(flow) end
  if f.is_unsealed then return reply.refuse('flow_not_sealed', 'ended', flow.id, state) end
  if terminal[state] and not f.ended_at then
    return reply.refuse('flow_already_terminal', 'ending', flow.id, state)
  end
end

-- ---- Rules ----------------------------------------------------------------------------------------

function flows.open_nodes(flow)
  local count = flows.count
  return count(flow, 'node_count') - count(flow, 'completed') - count(flow, 'failed')
    - count(flow, 'cancelled') - count(flow, 'expired') - count(flow, 'skipped')
end

-- The state with which it ends now; nil if it goes on or has ended before.
function flows.end_of(flow)
  local f = flow.f
  local state = f.public_flow_state
  if f.ended_at or f.walk or state == 'building' or state == 'open' or flows.open_nodes(flow) > 0 then
    return nil
  end
  if terminal[state] then return state end
  return flows.count(flow, 'failures') > 0 and 'failed' or 'completed'
end

-- The word for running of a flow of the contract is another one.
function flows.state_of_running(flow)
  return flows.is_of_contract(flow) and 'open' or 'running'
end

function flows.cancel(flow, reason, cancel_policy)
  flows.put(flow, {
    is_unsealed = flow.f.public_flow_state == 'building' and 1 or nil, public_flow_state = 'cancelled',
    cancellation_policy = cancel_policy, cancelled_at = flow.at, cancel_reason = reason,
  })
  execution.put_text(flow, 'reason', reason)
end

-- A node runs again, and so does the flow.
function flows.reopen(flow)
  local f = flow.f
  if f.deadline and tonumber(f.deadline) <= flow.now then flows.drop(flow, 'deadline') end
  flows.put(flow, {generation = flows.count(flow, 'generation') + 1})
  flows.drop(flow, 'is_stopping', 'ended_at', 'cancellation_policy', 'cancelled_at', 'cancel_reason')
  if f.public_flow_state ~= 'paused' then
    flows.put(flow, {public_flow_state = flows.state_of_running(flow)})
    flows.drop(flow, 'reason')
  end
end

local is_failure = {failed = true, expired = true, cancelled = true}
flows.is_failure = is_failure

-- Whether the end of a node in a state is a failure of its flow.
function flows.fails(node, state)
  return is_failure[state] and not node.is_optional and not (state == 'cancelled' and node.as_rest)
end

-- Counts a node that ended in a state (+1), or that ended so and runs again (-1).
function flows.count_end(flow, node, state, by)
  flows.put(flow, {[state] = flows.count(flow, state) + by})
  if flows.fails(node, state) then
    flows.put(flow, {failures = flows.count(flow, 'failures') + by})
  end
end

-- Refuses to start a node while its flow does not let it.
function flows.check_start(x)
  local id = x.f.flow_id
  if not id then return nil end
  local flow = server.call('HMGET', keys.flow(x.tag, id, 'core'), 'public_flow_state', 'cancellation_policy')
  local state = flow[1]
  if not state or state == 'running' or state == 'open' or flow[2] == 'flow_only' then return nil end
  -- A node that began before its flow was cancelled finishes, if the policy spares it.
  if flow[2] == 'cancel_pending' and attempts.is_open(x) then return nil end
  return reply.refuse('execution_not_leaseable', 'flow', id, state)
end

-- ---- Nodes ----------------------------------------------------------------------------------------

function flows.has_ended(x)
  return x.f.lifecycle_phase == 'terminal'
end

-- It waits for nodes before it.
function flows.is_blocked(x)
  return x.f.lifecycle_phase == 'runnable' and x.f.eligibility_state == 'blocked_by_dependencies'
end

-- A worker has it, it is set aside for one, or it is suspended.
function flows.is_held(x)
  local f = x.f
  return f.ownership_state == 'leased' or f.grant_expires_at ~= nil or f.lifecycle_phase == 'suspended'
end

local function is_held_by_flow(x)
  return x.f.eligibility_state == 'blocked_by_operator' and x.f.blocking_reason == 'paused_by_operator'
    and x.f.blocking_detail == paused_detail
end

local function is_lost(x)
  return x.f.lifecycle_phase == 'active' and x.f.ownership_state ~= 'leased'
end

local function is_waiting(x)
  if flows.is_held(x) then return false end
  return is_lost(x) or x.f.lifecycle_phase == 'runnable' and x.f.eligibility_state == 'eligible_now'
end

-- Not started, and not waiting for anything but its turn.
local function is_free(x)
  return is_waiting(x) or is_held_by_flow(x)
    or x.f.lifecycle_phase == 'runnable' and x.f.eligibility_state == 'not_eligible_until_time'
end

-- Of a node that is a flow, which has started. The field subflow_turn is 0 while the node waits, then one more each
-- time that its flow is to start (odd) or to be held (even).
function flows.has_subflow(x)
  return execution.count(x, 'subflow_turn') > 0
end

local function has_begun(x)
  return flows.has_subflow(x) or x.f.ownership_state == 'leased' or x.f.lifecycle_phase == 'suspended'
    or attempts.is_open(x)
end

-- Nothing of its run has happened, so that it can still be made to wait.
function flows.can_wait(x)
  return (flows.is_blocked(x) or is_free(x)) and not has_begun(x)
end

-- While it is not free, a node that lost its worker keeps that in mind: its attempt has ended.
local function remember_loss(x)
  if is_lost(x) then
    execution.put(x, {lost_as = x.f.ownership_state, attempt_state = 'attempt_terminal'})
  end
end

local function make_waiting(x)
  local lost_as = x.f.lost_as
  if not lost_as then return execution.become_waiting(x) end
  execution.become_lost(x, lost_as)
  execution.drop(x, 'lost_as', 'delay_until')
end

function flows.make_free(x)
  local due = tonumber(x.f.delay_until)
  if due and due > x.now then
    execution.become_delayed(x, due, 'waiting_for_delay')
  else
    make_waiting(x)
  end
end

-- Why the flow cancels this node, if it does.
local function cancel_reason(x, f)
  local function because(what)
    return f.reason and what .. ': ' .. f.reason or what
  end
  local policy = f.public_flow_state == 'cancelled' and f.cancellation_policy
  if policy == 'cancel_all' or policy == 'cancel_pending' and not has_begun(x)
    or policy == 'flow_only' and not flows.is_of_contract({f = f}) and flows.is_blocked(x)
      and not has_begun(x) then
    return because('flow cancelled')
  end
  if f.public_flow_state == 'expired' then return because('flow expired') end
  if f.is_stopping and not x.f.is_finalizer then return because('flow stopped') end
end

-- A node with a list is never claimed: it waits while its items are added, run and collected. Its fields are
--   map_over, map_parallel, map_tolerated   as it was submitted
--   map_phase                               a(dds items), r(uns them) or c(ollects); absent: it waits
--   map_items                               how many have been added
local function advance_map(x)
  local next_phase = not x.f.map_phase and 'a' or x.f.map_phase == 'r' and 'c'
  if not next_phase then return nil end
  execution.put(x, {map_phase = next_phase})
  return 'waiting_children'
end

-- The work that its phase means for an engine.
function flows.effect_of_map(x)
  local f, run = x.f, execution.count(x, 'replay_count')
  if f.map_phase == 'a' then return string.format('expand_map %s %d %s', x.id, run, f.map_over) end
  return string.format('collect_map %s %d %d %d', x.id, run, execution.count(x, 'map_items'),
    execution.count(x, 'map_tolerated'))
end

-- A node that is a flow is never claimed either.
local function advance_subflow(x, is_paused)
  local turn = execution.count(x, 'subflow_turn')
  local runs = turn % 2 == 1
  if runs ~= is_paused then return nil end
  execution.put(x, {subflow_turn = turn + 1})
  return 'waiting_children'
end

-- The flow that a node is has to do as the node demands in this turn.
function flows.effect_of_subflow(x, turn)
  return string.format('run_subflow %s %d %d', x.id, execution.count(x, 'replay_count'), turn)
end

-- It waits, and nothing of its run has happened yet.
function flows.is_untouched(x)
  return flows.is_blocked(x) and not attempts.is_open(x) and not x.f.map_phase and not flows.has_subflow(x)
end

-- The engine runs the node, and no worker.
local function is_run_by_engine(x)
  return x.f.map_over ~= nil or x.f.subflow_turn ~= nil
end

-- Whether such a node is in this run.
function flows.is_in_run(x, run)
  return is_run_by_engine(x) and not flows.has_ended(x) and execution.count(x, 'replay_count') == tonumber(run)
end

-- Forgets the last run of such a node.
function flows.forget_run(x)
  execution.drop(x, 'map_phase', 'map_items')
  if x.f.subflow_turn then execution.put(x, {subflow_turn = 0}) end
end

-- Such a node waits again.
function flows.wait_again(x)
  if not is_run_by_engine(x) then return end
  flows.forget_run(x)
  execution.become_waiting_children(x)
end

-- A node that has not ended waits, or goes on, as its edges and its flow demand. Returns the event; nil if
-- nothing changed.
function flows.settle(x, flow)
  local f = flow.f
  if flows.has_ended(x) or f.public_flow_state == 'building' then return nil end
  local reason = cancel_reason(x, f)
  if reason then
    ending.end_node(x, 'cancelled', reason)
    return 'cancelled'
  end
  local blocked = flows.is_blocked(x)
  if not blocked and not is_free(x) then return nil end  -- it has begun, or another scheduler holds it
  if blocked or not has_begun(x) then
    local verdict = flow_edges.verdict(x.f)
    if verdict == 'skip' then
      ending.end_node(x, 'skipped', 'dependency_impossible')
      return 'skipped'
    elseif verdict == 'wait' then
      if blocked then return nil end
      remember_loss(x)
      execution.become_waiting_children(x, nil, x.f.delay_until)
      return 'waiting_children'
    end
  end
  if blocked and x.f.map_over then
    -- While nodes are reset, some of its items may still be to be.
    return f.public_flow_state ~= 'paused' and not f.is_redriving and advance_map(x) or nil
  end
  if blocked and x.f.subflow_turn then return advance_subflow(x, f.public_flow_state == 'paused') end
  local was_held = is_held_by_flow(x)
  if blocked then flows.make_free(x) end
  if f.public_flow_state == 'paused' and is_waiting(x) then
    remember_loss(x)
    blocking.block(x, 'paused_by_operator', paused_detail)
    return 'blocked'
  end
  if was_held and f.public_flow_state ~= 'paused' then
    make_waiting(x)
    return 'unblocked'
  end
  return blocked and 'promoted' or nil
end

return flows
