-- The siblings of a group that fired have been cancelled.
--   keys   pending_cancel_groups, edgegroup
--   args   flow_id, downstream_eid
--   reply  OK drained, drained_sans_group or already_drained; ''
server.register_function('ff_drain_sibling_cancel_group', function(KEYS, ARGV)
  local pending, group_key = KEYS[1], KEYS[2]
  local flow_id, id = arguments.given(ARGV[1]), arguments.given(ARGV[2])

  if not flow_id or not id then return reply.refuse('invalid_args', 'flow_id and downstream_eid required') end
  local is_pending = server.call('SREM', pending, flow_id .. '|' .. id) == 1
  local exists = server.call('EXISTS', group_key) == 1
  if exists then
    server.call('HDEL', group_key, 'cancel_siblings_pending_flag', 'cancel_siblings_pending_members')
  end
  return reply.ok(not is_pending and 'already_drained' or exists and 'drained' or 'drained_sans_group', '')
end)
