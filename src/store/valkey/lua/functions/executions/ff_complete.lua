-- Ends an execution with a result.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, has_result (1 or 0), result, content_type
--   reply  OK event state
-- Repeated with the same fence, it replies as the first time.
commands.register('ff_complete', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local _, origin, lease_id, lease_epoch, attempt_id, has_result, result, content_type = unpack(ARGV)

  local f, now = execution.read(core_key), arguments.now(ARGV[1])
  if not f then return reply.refuse('execution_not_found') end
  local answer = plain.complete(core_key, f, now, ARGV)
  if answer then return answer end
  local x = execution.of_fields(core_key, f, now)
  local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
  if refused then
    local ended = leases.attempt_of(x, lease_id, lease_epoch, attempt_id, 'attempt_state')
    if ended and ended[1] == 'ended_success' then return reply.ok('', 'completed') end
    return refused
  end

  ending.complete(x, has_result == '1' and result or nil, arguments.given(content_type))
  execution.save(x)
  return reply.ok(events.tell(x, 'completed', origin), execution.reached(x))
end)
