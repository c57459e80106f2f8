-- Marks a flow as cancelled, and begins to cancel its nodes.
--   keys   flow core
--   args   now, origin, reason, policy (cancel_all, cancel_pending or flow_only)
--   reply  OK events fields tags
-- Repeated, it leaves the first policy and reason.
commands.register('ff_flow_cancel', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, reason, cancel_policy = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.find(tag, id, arguments.now(now))
  if not flow then return flows.not_found() end
  if flow.f.public_flow_state == 'cancelled' then return reply.ok('', flows.shown(flow)) end
  if flows.has_state_of_end(flow) then
    return reply.refuse('flow_already_terminal', 'ended', id, flow.f.public_flow_state)
  end

  local draft = flow_draft.begin(flow)
  flows.cancel(flow, reason, cancel_policy)
  flows.put(flow, {walk = 0})
  flow_draft.finish(draft, 'flow_cancelled')
  return reply.ok(events.tell_flow(draft, origin), flows.shown(flow))
end)
