-- Ends the cancelling of siblings of a group, if all of them have ended.
--   keys   pending_cancel_groups, edgegroup
--   args   flow_id, downstream_eid
--   reply  OK and what it did: no_op, sremmed_stale or completed_drain; and why
local function has_open_sibling(tag, members)
  for id in string.gmatch(members or '', '[^|]+') do
    local phase = server.call('HGET', keys.of_execution(tag, id, 'core'), 'lifecycle_phase')
    if phase and phase ~= 'terminal' then return true end
  end
  return false
end

server.register_function('ff_reconcile_sibling_cancel_group', function(KEYS, ARGV)
  local pending, group_key = KEYS[1], KEYS[2]
  local flow_id, id = arguments.given(ARGV[1]), arguments.given(ARGV[2])

  if not flow_id or not id then return reply.refuse('invalid_args', 'flow_id and downstream_eid required') end
  local entry = flow_id .. '|' .. id
  if server.call('SISMEMBER', pending, entry) == 0 then return reply.ok('no_op', 'not_in_set') end
  local group = contract_edges.group(group_key)
  local stale = not next(group) and 'missing_edgegroup'
    or group.cancel_siblings_pending_flag ~= 'true' and 'flag_cleared'
  if not stale and has_open_sibling(keys.tag_in(group_key), group.cancel_siblings_pending_members) then
    return reply.ok('no_op', 'siblings_running')
  end

  server.call('SREM', pending, entry)
  if stale then return reply.ok('sremmed_stale', stale) end
  server.call('HDEL', group_key, 'cancel_siblings_pending_flag', 'cancel_siblings_pending_members')
  return reply.ok('completed_drain', '')
end)
