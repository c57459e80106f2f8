-- Lets no further node of a flow start.
--   keys   flow core
--   args   now, origin, reason
--   reply  OK events fields tags
commands.register('ff_flow_pause', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, reason = ARGV[1], ARGV[2], ARGV[3]

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.find(tag, id, arguments.now(now))
  if not flow then return flows.not_found() end
  local state = flow.f.public_flow_state
  if state == 'paused' then return reply.ok('', flows.shown(flow)) end
  if state ~= 'running' and state ~= 'open' then return flows.not_running(flow) end

  local draft = flow_draft.begin(flow)
  flows.put(flow, {public_flow_state = 'paused', walk = 0})
  execution.put_text(flow, 'pause_reason', reason)
  flow_draft.finish(draft, 'flow_paused')
  return reply.ok(events.tell_flow(draft, origin), flows.shown(flow))
end)
