-- Makes an execution wait for another one.
--   keys   exec core, deps:meta, deps:unresolved, dep, lane eligible, lane blocked:dependencies,
--          deps:all_edges, edgegroup
--   args   flow_id, edge_id, upstream, graph_revision, dependency_kind, data_passing_ref, now_ms
--   reply  OK and how many are unsatisfied, or OK already_applied
-- An edge from an execution that has ended is resolved at once.
local function write_dep(x, ARGV)
  local flow_id, edge_id, upstream, revision, kind, data_passing_ref, now_ms = unpack(ARGV, 1, 7)
  local deps_key = contract_edges.deps_key
  server.call('HSET', contract_edges.dep_key(x, edge_id), 'edge_id', edge_id, 'flow_id', flow_id,
    'upstream_execution_id', upstream, 'downstream_execution_id', x.id,
    'dependency_kind', kind or 'success_only', 'state', 'unsatisfied',
    'data_passing_ref', data_passing_ref or '', 'last_resolved_at', '')
  server.call('SADD', deps_key(x, 'unresolved'), edge_id)
  server.call('SADD', deps_key(x, 'all_edges'), edge_id)
  local count = server.call('HINCRBY', deps_key(x, 'meta'), 'unsatisfied_required_count', 1)
  server.call('HSET', deps_key(x, 'meta'), 'flow_id', flow_id, 'last_flow_graph_revision', revision or '',
    'last_dependency_update_at', now_ms or x.at)
  return count
end

-- The older form of the call has no group.
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

server.register_function('ff_apply_dependency_to_child', function(KEYS, ARGV)
  local core_key, group_key = KEYS[1], KEYS[8]
  local flow_id, edge_id, upstream = ARGV[1], ARGV[2], ARGV[3]

  local _, id = keys.parse_core(core_key or '')
  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  if x.f.flow_id and x.f.flow_id ~= flow_id then return reply.refuse('execution_already_in_flow') end
  if server.call('EXISTS', contract_edges.dep_key(x, edge_id)) == 1 then return reply.ok('already_applied') end

  local count = write_dep(x, ARGV)
  local group = contract_edges.group(group_key)
  count_in_group(group_key, group)
  execution.put(x, {edges_in = flow_edges.count_in(x.f) + 1, needed = contract_edges.needed(group)})
  block(x, count, edge_id)
  local before = server.call('HMGET', keys.of_execution(x.tag, upstream, 'core'), 'lifecycle_phase',
    'terminal_outcome')
  if before[1] == 'terminal' then
    contract_edges.resolve(x, edge_id, before[2], x.at)
    contract.save(x, x.event or 'waiting_children')
  else
    execution.write(x)
    if flows.is_blocked(x) then events.tell(x, 'waiting_children', '') end
  end
  return reply.ok(tostring(count))
end)
