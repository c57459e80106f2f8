-- Cancels the nodes before a node that started without them, as programs of the contract list them; some of them.
--   keys   core (of the node that started)
--   args   now, origin, flow
--   reply  OK events cancelled more (1 or 0)
-- Nodes that have ended or are gone need nothing.
local siblings_max = 25

commands.register('ff_cancel_siblings', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, flow_id = ARGV[1], ARGV[2], ARGV[3]

  local tag, id = keys.parse_core(core_key)
  local group_key = keys.flow(tag, flow_id, 'edgegroup:' .. id)
  local group = contract_edges.group(group_key)
  local flow = flows.load(tag, flow_id, arguments.now(now))
  local some, left = {}, {}
  for sibling in string.gmatch(flow and group.cancel_siblings_pending_members or '', '[^|]+') do
    local list = #some < siblings_max and some or left
    list[#list + 1] = sibling
  end

  if #left > 0 then
    server.call('HSET', group_key, 'cancel_siblings_pending_members', table.concat(left, '|'))
  else
    server.call('SREM', keys.index(tag, 'pending_cancel_groups'), flow_id .. '|' .. id)
    server.call('HDEL', group_key, 'cancel_siblings_pending_flag', 'cancel_siblings_pending_members')
  end
  if not flow then return reply.ok('', '0', '0') end
  local draft = flow_draft.begin(flow)
  local reason = group.cancel_siblings_reason or 'sibling_quorum_satisfied'
  local cancelled = flow_draft.cancel_all(draft, some, reason, true)
  flow_draft.finish(draft)
  return reply.ok(events.tell_flow(draft, origin), tostring(cancelled), #left > 0 and '1' or '0')
end)
