-- Makes an execution a node of a flow.
--   keys   flow core, members, flow_index, exec core
--   args   flow_id, execution_id, now_ms (not used)
--   reply  OK or ALREADY_SATISFIED, execution_id node_count
server.register_function('ff_add_execution_to_flow', function(KEYS, ARGV)
  local core_key, exec_key = KEYS[1], KEYS[4]
  local flow_id, id = ARGV[1], ARGV[2]

  local flow, refused = contract.load_open_flow(core_key, flow_id)
  if not flow then return refused end
  local x
  x, refused = contract.load(exec_key, id)
  if not x then return refused end
  local other = x.f.flow_id
  if other and other ~= flow_id then return reply.refuse('already_member_of_different_flow:' .. other) end
  local members = keys.flow(flow.tag, flow_id, 'members')
  local is_member = server.call('SISMEMBER', members, id) == 1
  if is_member and other then return reply.already(id, tostring(flow.f.node_count)) end

  execution.put(x, {flow_id = flow_id})
  execution.write(x)
  if is_member then return reply.already(id, tostring(flow.f.node_count)) end
  server.call('SADD', members, id)
  server.call('APPEND', keys.flow(flow.tag, flow_id, 'nodes'), created.raw_of(flow.tag, id))
  flows.put(flow, {
    node_count = flows.count(flow, 'node_count') + 1, graph_revision = flows.count(flow, 'graph_revision') + 1,
  })
  if flows.has_ended(x) then flows.count_end(flow, x.f, x.f.public_state, 1) end
  flows.save(flow)
  server.call('SADD', keys.index(flow.tag, 'flow_index'), flow_id)
  return reply.ok(id, tostring(flow.f.node_count))
end)
