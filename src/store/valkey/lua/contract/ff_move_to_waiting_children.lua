-- Gives an execution back until those that it depends on have ended; if none is open, for the next
-- worker. KEYS: 1 core, 2 attempt, 3 lease:current, 4 lease:history, 5 lease_expiry, 6 worker leases,
-- 7 lane active, 8 lane blocked:dependencies, 9 attempt_timeout. ARGV: 1 execution_id, 2 lease_id,
-- 3 lease_epoch, 4 attempt_id, 5 source. Replies OK.
server.register_function('ff_move_to_waiting_children', function(KEYS, ARGV)
  local x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  local fence = {lease_id = ARGV[2], epoch = ARGV[3], attempt_id = ARGV[4]}
  refused = fencing.check(x, fence, ARGV[5])
  if refused then return refused end

  pausing.pause(x, 'waiting_children')
  contract.save(x, 'waiting_children')
  return reply.ok()
end)
