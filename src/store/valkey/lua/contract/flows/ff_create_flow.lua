-- Makes a flow without nodes.
--   keys   flow core, members (not used), flow_index
--   args   flow_id, flow_kind, namespace, now_ms (not used)
--   reply  OK flow_id, or ALREADY_SATISFIED flow_id
server.register_function('ff_create_flow', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local flow_id, kind, namespace = ARGV[1], ARGV[2] or '', ARGV[3] or ''

  local tag, refused = contract.identify_flow(core_key, flow_id)
  if not tag then return refused end
  local now = arguments.now()
  if flows.load(tag, flow_id, now) then return reply.already(flow_id) end

  contract.tell_flow(open_flows.create(tag, flow_id, kind, namespace, now), 'flow_submitted')
  return reply.ok(flow_id)
end)
