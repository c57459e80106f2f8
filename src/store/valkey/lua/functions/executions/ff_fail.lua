-- Ends an attempt in failure, and the execution too unless its policy retries.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, reason, category
--   reply  OK event state retry_at
-- Repeated with the same fence, it replies as the first time.
local function first_reply(x, lease_id, lease_epoch, attempt_id)
  local ended = leases.attempt_of(x, lease_id, lease_epoch, attempt_id, 'attempt_state', 'lease_end',
    'ended_at', 'retry_at', 'suspended_at')
  -- A timeout ends an attempt in failure too, also a paused one, but without a call of its worker.
  if not ended or ended[1] ~= 'ended_failure' or ended[2] or ended[5] then return nil end
  if not ended[4] then return reply.ok('', 'failed', '') end
  local state = tonumber(ended[4]) > tonumber(ended[3]) and 'delayed' or 'waiting'
  return reply.ok('', state, ended[4])
end

commands.register('ff_fail', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, lease_id, lease_epoch, attempt_id, reason, category = unpack(ARGV)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
  if refused then return first_reply(x, lease_id, lease_epoch, attempt_id) or refused end

  local at = policy.retry_at(x, policy.table(policy.of(x), 'retry_policy'), category)
  if at then
    ending.retry(x, reason, category, at)
  else
    ending.fail(x, reason, category)
  end
  execution.save(x)
  return reply.ok(events.tell(x, at and 'retry_scheduled' or 'failed', origin),
    execution.reached(x), tostring(at or ''))
end)
