-- Flows that get members and edges one by one: of programs of the contract, and of the engine's ff::OpenFlow. They are
-- open until they are cancelled.
local open_flows = {}

local visited_max = 10000  -- nodes; a larger graph below an edge counts as a cycle

function open_flows.create(tag, id, kind, namespace, now)
  local flow = flows.new(tag, id, {
    flow_id = id, flow_kind = kind, namespace = namespace, graph_revision = 0, node_count = 0,
    edge_count = 0, public_flow_state = 'open', created_at = string.format('%.0f', now),
  }, now)
  flows.save(flow)
  server.call('SADD', keys.index(tag, 'flow_index'), id)
  server.call('ZADD', keys.flows(tag, namespace), now, id)
  return flow
end

-- A flow that members can be added to, or nil and the refusal.
function open_flows.find(core_key, now)
  local tag, id = keys.parse_flow(core_key)
  local flow = flows.find(tag, id, now)
  if not flow then return nil, flows.not_found() end
  if flows.has_state_of_end(flow) then return nil, flows.not_running(flow) end
  if not flows.is_of_contract(flow) then return nil, reply.refuse('invalid_input', 'not_open') end
  return flow
end

-- A member of the flow, or nil and the refusal, which names the field that has its id.
function open_flows.member(flow, field, id)
  local x = execution.load(keys.of_execution(flow.tag, id, 'core'), flow.now)
  if x and x.f.flow_id == flow.id then return x end
  return nil, reply.refuse('execution_not_in_flow', field, id)
end

-- Makes an execution a node; returns the event, if it has to wait because of that.
function open_flows.add_member(flow, x)
  execution.put(x, {flow_id = flow.id})
  server.call('SADD', keys.flow(flow.tag, flow.id, 'members'), x.id)
  server.call('APPEND', keys.flow(flow.tag, flow.id, 'nodes'), created.raw_of(flow.tag, x.id))
  flows.put(flow, {
    node_count = flows.count(flow, 'node_count') + 1, graph_revision = flows.count(flow, 'graph_revision') + 1,
  })
  if flows.has_ended(x) then flows.count_end(flow, x.f, x.f.public_state, 1) end
  local event = flows.settle(x, flow)
  execution.write(x)
  flows.save(flow)
  server.call('SADD', keys.index(flow.tag, 'flow_index'), flow.id)
  return event
end

-- Whether `wanted` can be reached from `start`.
function open_flows.is_reached(flow, start, wanted)
  local queue, seen, at = {start}, {[start] = true}, 1
  while at <= #queue do
    local out = keys.flow(flow.tag, flow.id, 'out:' .. queue[at])
    for _, edge_id in ipairs(server.call('SMEMBERS', out)) do
      local id = server.call('HGET', keys.flow(flow.tag, flow.id, 'edge:' .. edge_id), 'downstream_execution_id')
      if id == wanted then return true end
      if id and not seen[id] then
        seen[id] = true
        queue[#queue + 1] = id
        if #queue > visited_max then return true end
      end
    end
    at = at + 1
  end
  return false
end

-- `edge` has edge_id, upstream and downstream, and perhaps kind, data_passing_ref and now_ms.
function open_flows.stage(flow, edge)
  server.call('HSET', keys.flow(flow.tag, flow.id, 'edge:' .. edge.edge_id), 'edge_id', edge.edge_id,
    'flow_id', flow.id, 'upstream_execution_id', edge.upstream, 'downstream_execution_id', edge.downstream,
    'dependency_kind', edge.kind or 'success_only', 'satisfaction_condition', 'all_required',
    'data_passing_ref', edge.data_passing_ref or '', 'edge_state', 'pending',
    'created_at', edge.now_ms or flow.at, 'created_by', 'engine')
  server.call('SADD', keys.flow(flow.tag, flow.id, 'out:' .. edge.upstream), edge.edge_id)
  server.call('SADD', keys.flow(flow.tag, flow.id, 'in:' .. edge.downstream), edge.edge_id)
  flows.put(flow, {
    graph_revision = flows.count(flow, 'graph_revision') + 1, edge_count = flows.count(flow, 'edge_count') + 1,
  })
  flows.save(flow)
end

-- ---- Applying -------------------------------------------------------------------------------------

local function write_dep(x, edge)
  local deps_key = contract_edges.deps_key
  server.call('HSET', contract_edges.dep_key(x, edge.edge_id), 'edge_id', edge.edge_id, 'flow_id', edge.flow_id,
    'upstream_execution_id', edge.upstream, 'downstream_execution_id', x.id,
    'dependency_kind', edge.kind or 'success_only', 'state', 'unsatisfied',
    'data_passing_ref', edge.data_passing_ref or '', 'last_resolved_at', '')
  server.call('SADD', deps_key(x, 'unresolved'), edge.edge_id)
  server.call('SADD', deps_key(x, 'all_edges'), edge.edge_id)
  local count = server.call('HINCRBY', deps_key(x, 'meta'), 'unsatisfied_required_count', 1)
  server.call('HSET', deps_key(x, 'meta'), 'flow_id', edge.flow_id,
    'last_flow_graph_revision', edge.revision or '', 'last_dependency_update_at', edge.now_ms or x.at)
  return count
end

-- The older form of the contract's call has no group.
local function count_in_group(group_key, group)
  if not group_key then return end
  if group.policy_variant then
    server.call('HINCRBY', group_key, 'n', 1)
  else
    server.call('HSET', group_key, 'policy_variant', 'all_of', 'n', 1, 'succeeded', 0,
      'group_state', 'pending')
  end
end

local function block(x, count, edge_id)
  if x.f.lifecycle_phase ~= 'runnable' or flow_edges.verdict(x.f) == 'ready' then return end
  execution.become_waiting_children(x, nil, x.f.delay_until)
  execution.put(x, {blocking_detail = count .. ' dep(s) unresolved incl ' .. edge_id})
end

-- Makes an execution wait for another one; an edge from one that has ended is resolved at once. `edge` has edge_id,
-- flow_id and upstream, and perhaps revision, kind, data_passing_ref, now_ms and group_key. Returns how many edges
-- were unsatisfied with it, and the events.
function open_flows.apply(x, edge, origin)
  local count = write_dep(x, edge)
  local group = contract_edges.group(edge.group_key)
  count_in_group(edge.group_key, group)
  execution.put(x, {edges_in = flow_edges.count_in(x.f) + 1, needed = contract_edges.needed(group)})
  block(x, count, edge.edge_id)
  local before = server.call('HMGET', keys.of_execution(x.tag, edge.upstream, 'core'), 'lifecycle_phase',
    'terminal_outcome')
  if before[1] == 'terminal' then
    contract_edges.resolve(x, edge.edge_id, before[2], x.at)
    execution.save(x)
    return count, events.tell(x, x.event or 'waiting_children', origin)
  end
  execution.write(x)
  return count, flows.is_blocked(x) and events.tell(x, 'waiting_children', origin) or ''
end

return open_flows
