-- Makes an execution a node of an open flow.
--   keys   flow core
--   args   now, origin, execution_id
--   reply  OK or DUPLICATE, events, node_count
commands.register('ff_flow_add_member', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, id = unpack(ARGV, 1, 3)

  local flow, refused = open_flows.find(core_key, arguments.now(now))
  if not flow then return refused end
  local x = execution.load(keys.of_execution(flow.tag, id, 'core'), flow.now)
  if not x or (x.f.namespace or 'default') ~= flow.f.namespace then return reply.refuse('execution_not_found', id) end
  local other = x.f.flow_id
  if other and other ~= flow.id then return reply.refuse('execution_already_in_flow', id, other) end
  if other then return {1, 'DUPLICATE', '', tostring(flow.f.node_count)} end
  if flows.count(flow, 'node_count') >= flow_nodes.nodes_max then return reply.refuse('flow_limit_exceeded') end

  local event = open_flows.add_member(flow, x)
  return reply.ok(event and events.tell(x, event, origin) or '', tostring(flow.f.node_count))
end)
