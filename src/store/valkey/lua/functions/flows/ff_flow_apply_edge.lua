-- Makes a member of an open flow wait for another one, as a staged edge says.
--   keys   flow core
--   args   now, origin, edge_id, upstream, downstream
--   reply  OK or DUPLICATE, events, how many are unsatisfied
commands.register('ff_flow_apply_edge', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, edge_id, upstream, downstream = unpack(ARGV, 1, 5)

  local flow, refused = open_flows.find(core_key, arguments.now(now))
  if not flow then return refused end
  local x
  x, refused = open_flows.member(flow, 'downstream_execution_id', downstream)
  if not x then return refused end
  local edge = server.call('HMGET', keys.flow(flow.tag, flow.id, 'edge:' .. edge_id), 'upstream_execution_id',
    'downstream_execution_id')
  if edge[1] ~= upstream or edge[2] ~= downstream then return reply.refuse('invalid_input', 'edge', edge_id) end
  local function unsatisfied()
    return tostring(server.call('HGET', contract_edges.deps_key(x, 'meta'), 'unsatisfied_required_count') or 0)
  end
  if server.call('EXISTS', contract_edges.dep_key(x, edge_id)) == 1 then
    return {1, 'DUPLICATE', '', unsatisfied()}
  end
  if not flows.can_wait(x) then return reply.refuse('execution_not_eligible', 'begun', downstream, x.f.public_state) end

  local _, told = open_flows.apply(x, {
    flow_id = flow.id, edge_id = edge_id, upstream = upstream, revision = flow.f.graph_revision,
    group_key = contract_edges.group_key(x),
  }, origin)
  return reply.ok(told, unsatisfied())
end)
