-- Runs a node of a flow once more and all after it, or begins to do so with all nodes that failed.
--   keys   flow core
--   args   now, origin, from (an execution; empty: all that failed), reason
--   reply  OK events fields tags
-- Repeated with the same origin, it succeeds.
local function check_node(flow, id)
  local x = execution.load(keys.of_execution(flow.tag, id, 'core'), flow.now)
  if not x or x.f.flow_id ~= flow.id then return reply.refuse('execution_not_found', id) end
  if not flows.has_ended(x) then return reply.refuse('execution_not_terminal', x.f.public_state, id) end
  if flow_edges.verdict(x.f) == 'skip' then
    return reply.refuse('execution_not_eligible', 'dependencies', id)
  end
end

local function has_failures(flow)
  local count = flows.count
  return count(flow, 'failed') + count(flow, 'cancelled') + count(flow, 'expired') > 0
end

commands.register('ff_flow_redrive', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, from, reason = ARGV[1], ARGV[2], arguments.given(ARGV[3]), ARGV[4]

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.find(tag, id, arguments.now(now))
  if not flow then return flows.not_found() end
  local f = flow.f
  if f.last_call == origin then return reply.ok('', flows.shown(flow)) end
  local refused = flows.check_rerun(flow) or from and check_node(flow, from)
  if refused then return refused end
  if not from and not has_failures(flow) then return reply.ok('', flows.shown(flow)) end

  local draft = flow_draft.begin(flow)
  flows.reopen(flow)
  flows.put(flow, {last_call = origin})
  if from then
    flow_draft.reset(draft, from, reason)
  else
    flows.put(flow, {is_redriving = 1, walk = 0})
  end
  flow_draft.finish(draft, 'flow_redriven')
  return reply.ok(events.tell_flow(draft, origin), flows.shown(flow))
end)
