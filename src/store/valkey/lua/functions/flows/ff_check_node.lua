-- Compares the edges into a node that waits with the nodes before it, one slice of them, and repairs what differs.
--   keys   core
--   args   now, origin, first (place among its edges, from 0)
--   reply  OK events repaired next (where to go on; empty at the end)
-- Work that an effect is stored for is left to that effect.
local edges_max = 100

-- Of a program of the contract, with or without a flow.
local function check_member(x, origin)
  x.by_contract = true
  local repaired = contract_edges.check(x, edges_max)
  local event = x.event
  if event then
    execution.save(x)
    return reply.ok(events.tell(x, event, origin), tostring(repaired), '')
  end
  if next(x.changed) then execution.write(x) end
  return reply.ok('', tostring(repaired), '')
end

commands.register('ff_check_node', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, first = ARGV[1], ARGV[2], tonumber(ARGV[3])

  local x = execution.load(core_key, arguments.now(now))
  if not x or not flows.is_blocked(x) then return reply.ok('', '0', '') end
  local flow = x.f.flow_id and flows.load(x.tag, x.f.flow_id, x.now)
  if not flow or flows.is_of_contract(flow) then return check_member(x, origin) end
  if flow.f.walk then return reply.ok('', '0', '') end  -- which brings all nodes in line

  local draft = flow_draft.begin(flow)
  flow_draft.add(draft, x)
  local repaired, next_place = flow_draft.check(draft, x, first)
  flow_draft.finish(draft)
  return reply.ok(events.tell_flow(draft, origin), tostring(repaired), tostring(next_place or ''))
end)
