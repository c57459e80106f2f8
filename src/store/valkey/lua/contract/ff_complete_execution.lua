-- Ends an execution with a result. KEYS: 1 core, 2 attempt, 3 lease_expiry, 4 worker leases, 5 lane
-- terminal, 6 lease:current, 7 lease:history, 8 lane active, 9 stream meta, 10 result,
-- 11 attempt_timeout, 12 execution_deadline. ARGV: 1 execution_id, 2 lease_id, 3 lease_epoch,
-- 4 attempt_id, 5 result_payload, 6 source. Replies OK completed.
server.register_function('ff_complete_execution', function(KEYS, ARGV)
  local x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  local fence = {lease_id = ARGV[2], epoch = ARGV[3], attempt_id = ARGV[4]}
  refused = fencing.check(x, fence, ARGV[6])
  if refused then return refused end

  ending.complete(x, arguments.given(ARGV[5]))
  contract.save(x, 'completed')
  return reply.ok('completed')
end)
