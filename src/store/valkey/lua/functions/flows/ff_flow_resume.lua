-- Lets the nodes of a paused flow start.
--   keys   flow core
--   args   now, origin
--   reply  OK events fields tags
commands.register('ff_flow_resume', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin = ARGV[1], ARGV[2]

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.find(tag, id, arguments.now(now))
  if not flow then return flows.not_found() end
  local state = flow.f.public_flow_state
  if state == 'running' or state == 'open' then return reply.ok('', flows.shown(flow)) end
  if state ~= 'paused' then return flows.not_running(flow) end

  local draft = flow_draft.begin(flow)
  flows.put(flow, {public_flow_state = flows.state_of_running(flow), walk = 0})
  flows.drop(flow, 'pause_reason')
  flow_draft.finish(draft, 'flow_resumed')
  return reply.ok(events.tell_flow(draft, origin), flows.shown(flow))
end)
