-- Ends an execution with a result.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, has_result (1 or 0), result, content_type
--   reply  OK event state
-- Repeated with the same fence, it replies as the first time.
local function complete(core_key, ARGV)
  local _, origin, lease_id, lease_epoch, attempt_id, has_result, result, content_type = unpack(ARGV)

  local x = execution.load(core_key, arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
  if refused then
    local ended = leases.attempt_of(x, lease_id, lease_epoch, attempt_id, 'attempt_state')
    if ended and ended[1] == 'ended_success' then return reply.ok('', 'completed') end
    return refused
  end

  ending.complete(x, has_result == '1' and result or nil, arguments.given(content_type))
  execution.save(x)
  return reply.ok(events.tell(x, 'completed', origin), execution.reached(x))
end

commands.register('ff_complete', function(KEYS, ARGV)
  return plain.complete(KEYS[1], ARGV) or complete(KEYS[1], ARGV)
end)

-- Ends several executions with results.
--   keys   cores
--   args   now, then of each: origin, lease_id, lease_epoch, attempt_id, has_result (1 or 0), result, content_type
--   reply  OK and the reply of ff_complete of each
joined.register('ff_complete_many', 1, 7, function(core_key, ARGV, first)
  local argv = {ARGV[1], unpack(ARGV, first + 1, first + 7)}
  return plain.complete(core_key, argv) or complete(core_key, argv)
end)
