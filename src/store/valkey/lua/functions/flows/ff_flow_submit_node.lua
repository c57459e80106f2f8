-- Adds one node to a flow. A node that is there already must be the same one.
--   keys   flow core
--   args   now, origin, namespace, then the node (lib/flow_nodes.lua)
--   reply  OK or DUPLICATE, events, state
local first_node = 4

commands.register('ff_flow_submit_node', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, namespace = unpack(ARGV, 1, 3)

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.find(tag, id, arguments.now(now))
  if not flow or flow.f.namespace ~= namespace then return flows.not_found() end
  local list = flow_nodes.read(tag, ARGV, first_node)
  local added = list[1]
  local existing = execution.load(added.key, flow.now)
  if existing then
    local refused = flow_nodes.check_same(existing, added, 0)
    if refused then return refused end
    if not flow_nodes.has_payload(existing, added) then
      return reply.refuse('duplicate_mismatch', 'node', '0', 'payload')
    end
    return {1, 'DUPLICATE', '', existing.f.public_state}
  end
  if flows.has_state_of_end(flow) then return flows.not_running(flow) end
  if flows.is_of_contract(flow) then return reply.refuse('flow_not_building', 'open') end
  local fresh, _, refused = flow_nodes.sort(flow, list)
  if refused then return refused end

  local draft = flow_draft.begin(flow)
  flow_nodes.add_all(draft, fresh, {})
  flow_draft.finish(draft)
  return reply.ok(events.tell_flow(draft, origin), fresh[1].x.f.public_state)
end)
