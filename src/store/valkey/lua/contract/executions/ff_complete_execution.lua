-- Ends an execution with a result.
--   keys   core, attempt, lease_expiry, worker leases, lane terminal, lease:current, lease:history, lane
--          active, stream meta, result, attempt_timeout, execution_deadline
--   args   execution_id, lease_id, lease_epoch, attempt_id, result_payload, source
--   reply  OK completed
-- Repeated with the same fence, it replies as the first time.
server.register_function('ff_complete_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, result, source = ARGV[1], ARGV[5], ARGV[6]
  local fence = {lease_id = ARGV[2], epoch = ARGV[3], attempt_id = ARGV[4]}

  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  refused = fencing.check(x, fence, source)
  if refused then
    local ended = fencing.attempt_of(x, fence, 'attempt_state')
    return ended and ended[1] == 'ended_success' and reply.ok('completed') or refused
  end

  ending.complete(x, arguments.given(result))
  contract.save(x, 'completed')
  return reply.ok('completed')
end)
