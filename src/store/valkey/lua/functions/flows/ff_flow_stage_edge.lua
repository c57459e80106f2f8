-- Adds an edge between two members of an open flow. It has no effect until it is applied.
--   keys   flow core
--   args   now, origin, edge_id, upstream, downstream, expected_graph_revision
--   reply  OK events graph_revision
commands.register('ff_flow_stage_edge', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, _, edge_id, upstream, downstream, revision = unpack(ARGV, 1, 6)

  local flow, refused = open_flows.find(core_key, arguments.now(now))
  if not flow then return refused end
  if flows.count(flow, 'graph_revision') ~= tonumber(revision) then
    return reply.refuse('stale_graph_revision', tostring(flow.f.graph_revision))
  end
  local x
  x, refused = open_flows.member(flow, 'upstream_execution_id', upstream)
  if not x then return refused end
  x, refused = open_flows.member(flow, 'downstream_execution_id', downstream)
  if not x then return refused end
  if open_flows.is_reached(flow, downstream, upstream) then
    return reply.refuse('cycle_detected', upstream, downstream)
  end
  if server.call('EXISTS', keys.flow(flow.tag, flow.id, 'edge:' .. edge_id)) == 1 then
    return reply.refuse('dependency_already_exists', edge_id)
  end
  if server.call('SCARD', keys.flow(flow.tag, flow.id, 'in:' .. downstream)) >= flow_nodes.dependencies_max
    or flows.count(flow, 'edge_count') >= flow_nodes.edges_max then
    return reply.refuse('flow_limit_exceeded')
  end

  open_flows.stage(flow, {edge_id = edge_id, upstream = upstream, downstream = downstream})
  return reply.ok('', tostring(flow.f.graph_revision))
end)
