-- Ends a node with a result, or gives it back until its children have ended, and adds nodes to its flow.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, how (complete or wait), has_result (1 or 0), result,
--          content_type, then the nodes (lib/flow_nodes.lua)
--   reply  OK events state
-- Repeated with the same fence, it replies as the first time.
local first_node = 10

local function told_before(x, how, lease_id, lease_epoch, attempt_id)
  local told = leases.attempt_of(x, lease_id, lease_epoch, attempt_id, 'attempt_state', 'suspension_id', 'ended_at')
  if not told then return nil end
  if how == 'complete' then return told[1] == 'ended_success' and reply.ok('', 'completed') or nil end
  return told[2] == 'waiting_children' and not told[3] and reply.ok('', x.f.public_state) or nil
end

commands.register('ff_flow_grow', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, lease_id, lease_epoch, attempt_id, how, has_result, result, content_type = unpack(ARGV, 1, 9)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
  if refused then return told_before(x, how, lease_id, lease_epoch, attempt_id) or refused end
  local flow = x.f.flow_id and flows.find(x.tag, x.f.flow_id, x.now)
  if not flow or flows.is_of_contract(flow) then return reply.refuse('invalid_input', 'no_node') end
  local list = flow_nodes.read(x.tag, ARGV, first_node)
  local waits = how == 'wait'
  if not waits then flow_nodes.mark_spawned(list, x) end
  local fresh, known
  fresh, known, refused = flow_nodes.sort(flow, list, not waits)
  if not refused and waits then refused = flow_nodes.check_children(known, x) end
  if refused then return refused end

  if waits then
    pausing.pause(x, 'waiting_children')
  else
    ending.complete(x, has_result == '1' and result or nil, arguments.given(content_type))
  end
  local draft = flow_draft.begin(flow)
  flow_draft.take(draft, x)
  flow_nodes.add_all(draft, fresh, known)
  if waits then
    for _, added in ipairs(list) do flow_draft.add_child(draft, x, flow_draft.node(draft, added.id)) end
    if not flows.has_ended(x) then execution.become_waiting_children(x, 'attempt_interrupted') end
    draft.settled_last = x
  end
  flow_draft.finish(draft)
  return reply.ok(events.tell(x, waits and 'waiting_children' or 'completed', origin), execution.reached(x))
end)
