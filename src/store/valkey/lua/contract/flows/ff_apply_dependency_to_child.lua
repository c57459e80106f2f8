-- Makes an execution wait for another one.
--   keys   exec core, deps:meta, deps:unresolved, dep, lane eligible, lane blocked:dependencies,
--          deps:all_edges, edgegroup
--   args   flow_id, edge_id, upstream, graph_revision, dependency_kind, data_passing_ref, now_ms
--   reply  OK and how many are unsatisfied, or OK already_applied
-- An edge from an execution that has ended is resolved at once.
server.register_function('ff_apply_dependency_to_child', function(KEYS, ARGV)
  local core_key, group_key = KEYS[1], KEYS[8]
  local flow_id, edge_id, upstream = ARGV[1], ARGV[2], ARGV[3]

  local _, id = keys.parse_core(core_key or '')
  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  if x.f.flow_id and x.f.flow_id ~= flow_id then return reply.refuse('execution_already_in_flow') end
  if server.call('EXISTS', contract_edges.dep_key(x, edge_id)) == 1 then return reply.ok('already_applied') end

  local count = open_flows.apply(x, {
    flow_id = flow_id, edge_id = edge_id, upstream = upstream, revision = ARGV[4], kind = ARGV[5],
    data_passing_ref = ARGV[6], now_ms = ARGV[7], group_key = group_key,
  }, '')
  return reply.ok(tostring(count))
end)
