-- Adds nodes to a flow. Nodes that it has already run again if their payload is another one now.
--   keys   flow core
--   args   now, origin, then the nodes (lib/flow_nodes.lua)
--   reply  OK events fields tags
local first_node = 3

commands.register('ff_flow_add_nodes', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin = ARGV[1], ARGV[2]

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.find(tag, id, arguments.now(now))
  if not flow then return flows.not_found() end
  if flows.has_state_of_end(flow) then return flows.not_running(flow) end
  if flows.is_of_contract(flow) then return reply.refuse('flow_not_building', 'open') end
  local fresh, known, refused = flow_nodes.sort(flow, flow_nodes.read(tag, ARGV, first_node))
  if refused then return refused end

  local draft = flow_draft.begin(flow)
  flow_nodes.add_all(draft, fresh, known)
  flow_draft.finish(draft)
  return reply.ok(events.tell_flow(draft, origin), flows.shown(flow))
end)
