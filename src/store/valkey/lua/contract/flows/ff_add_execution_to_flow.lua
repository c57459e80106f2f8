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

  if is_member then
    execution.put(x, {flow_id = flow_id})
    execution.write(x)
    return reply.already(id, tostring(flow.f.node_count))
  end
  local event = open_flows.add_member(flow, x)
  if event then events.tell(x, event, '') end
  return reply.ok(id, tostring(flow.f.node_count))
end)
