-- Adds an edge between two nodes of a flow. It has no effect until it is applied.
--   keys   flow core, members, edge, out of the upstream, in of the downstream, grant (not used)
--   args   flow_id, edge_id, upstream, downstream, dependency_kind, data_passing_ref,
--          expected_graph_revision, now_ms
--   reply  OK edge_id graph_revision
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
  if open_flows.is_reached(flow, downstream, upstream) then return reply.refuse('cycle_detected') end
  local edge_key = keys.flow(flow.tag, flow_id, 'edge:' .. edge_id)
  if server.call('EXISTS', edge_key) == 1 then return reply.refuse('dependency_already_exists') end

  open_flows.stage(flow, {
    edge_id = edge_id, upstream = upstream, downstream = downstream, kind = kind,
    data_passing_ref = data_passing_ref, now_ms = now_ms,
  })
  return reply.ok(edge_id, tostring(flow.f.graph_revision))
end)
