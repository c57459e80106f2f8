-- A node of a cancelled flow has been cancelled.
--   keys   pending_cancels, cancel_backlog
--   args   execution_id, flow_id
--   reply  OK
server.register_function('ff_ack_cancel_member', function(KEYS, ARGV)
  local pending, backlog = KEYS[1], KEYS[2]
  local id, flow_id = ARGV[1], ARGV[2]

  server.call('SREM', pending, id)
  if server.call('EXISTS', pending) == 0 then server.call('ZREM', backlog, flow_id) end
  return reply.ok()
end)
