-- Gives an execution back until those that it depends on have ended; if none is open, for the next worker.
--   keys   core, attempt, lease:current, lease:history, lease_expiry, worker leases, lane active, lane
--          blocked:dependencies, attempt_timeout
--   args   execution_id, lease_id, lease_epoch, attempt_id, source
--   reply  OK
server.register_function('ff_move_to_waiting_children', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, source = ARGV[1], ARGV[5]
  local fence = {lease_id = ARGV[2], epoch = ARGV[3], attempt_id = ARGV[4]}

  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  refused = fencing.check(x, fence, source)
  if refused then return refused end

  pausing.pause(x, 'waiting_children')
  contract.save(x, 'waiting_children')
  return reply.ok()
end)
