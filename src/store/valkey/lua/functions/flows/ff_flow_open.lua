-- Makes an open flow, without nodes.
--   keys   flow core
--   args   now, origin, namespace, kind
--   reply  OK or DUPLICATE, events, fields, tags
commands.register('ff_flow_open', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, namespace, kind = unpack(ARGV, 1, 4)

  local tag, id = keys.parse_flow(core_key)
  now = arguments.now(now)
  local existing = flows.load(tag, id, now)
  if existing and existing.f.namespace ~= namespace then return reply.refuse('invalid_input', 'id') end
  if existing and existing.f.is_removing then return reply.refuse('flow_being_removed', id) end
  if existing then
    local core, tags = flows.shown(existing)
    return {1, 'DUPLICATE', '', core, tags}
  end

  local flow = open_flows.create(tag, id, kind, namespace, now)
  local told = events.tell_flow({flow = flow, order = {}, effects = {}, event = 'flow_submitted'}, origin)
  return reply.ok(told, flows.shown(flow))
end)
