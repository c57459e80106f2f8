-- Adds an edge between two nodes of a flow. It has no effect until it is applied.
--   keys   flow core, members, edge, out of the upstream, in of the downstream, grant (not used)
--   args   flow_id, edge_id, upstream, downstream, dependency_kind, data_passing_ref,
--          expected_graph_revision, now_ms
--   reply  OK edge_id graph_revision
local visited_max = 10000  -- nodes; a larger graph below an edge counts as a cycle

-- Whether `wanted` can be reached from `start`.
local function is_reached(flow, start, wanted)
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

server.register_function('ff_stage_dependency_edge', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local flow_id, edge_id, upstream, downstream, kind, data_passing_ref, revision, now_ms = unpack(ARGV, 1, 8)

  if upstream == downstream then return reply.refuse('self_referencing_edge') end
  local flow, refused = contract.load_open_flow(core_key, flow_id)
  if not flow then return refused end
  if (flow.f.graph_revision or '0') ~= revision then return reply.refuse('stale_graph_revision') end
  local members = keys.flow(flow.tag, flow_id, 'members')
  for _, id in ipairs({upstream, downstream}) do
    if server.call('SISMEMBER', members, id) == 0 then return reply.refuse('execution_not_in_flow') end
  end
  if is_reached(flow, downstream, upstream) then return reply.refuse('cycle_detected') end
  local edge_key = keys.flow(flow.tag, flow_id, 'edge:' .. edge_id)
  if server.call('EXISTS', edge_key) == 1 then return reply.refuse('dependency_already_exists') end

  server.call('HSET', edge_key, 'edge_id', edge_id, 'flow_id', flow_id, 'upstream_execution_id', upstream,
    'downstream_execution_id', downstream, 'dependency_kind', kind or 'success_only',
    'satisfaction_condition', 'all_required', 'data_passing_ref', data_passing_ref or '',
    'edge_state', 'pending', 'created_at', now_ms or flow.at, 'created_by', 'engine')
  server.call('SADD', keys.flow(flow.tag, flow_id, 'out:' .. upstream), edge_id)
  server.call('SADD', keys.flow(flow.tag, flow_id, 'in:' .. downstream), edge_id)
  flows.put(flow, {
    graph_revision = flows.count(flow, 'graph_revision') + 1, edge_count = flows.count(flow, 'edge_count') + 1,
  })
  flows.save(flow)
  return reply.ok(edge_id, tostring(flow.f.graph_revision))
end)
