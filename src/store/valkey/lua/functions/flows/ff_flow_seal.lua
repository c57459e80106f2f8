-- Ends the building of a flow: its nodes can start.
--   keys   flow core
--   args   now, origin
--   reply  OK events fields tags
commands.register('ff_flow_seal', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin = ARGV[1], ARGV[2]

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.find(tag, id, arguments.now(now))
  if not flow then return flows.not_found() end
  local state = flow.f.public_flow_state
  if state == 'expired' or state == 'cancelled' then
    return reply.refuse('flow_already_terminal', 'ended', id, state)
  end
  if state ~= 'building' then return reply.ok('', flows.shown(flow)) end
  if flows.count(flow, 'node_count') == 0 then return reply.refuse('invalid_input', 'nodes') end

  local draft = flow_draft.begin(flow)
  flows.put(flow, {public_flow_state = 'running', walk = 0})
  flow_draft.finish(draft, 'flow_sealed')
  return reply.ok(events.tell_flow(draft, origin), flows.shown(flow))
end)
