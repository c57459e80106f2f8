-- Ends an attempt in failure, and the execution too unless its policy retries. KEYS: core. ARGV: now,
-- origin, 3 lease_id, 4 lease_epoch, 5 attempt_id, 6 reason, 7 category. Replies OK event state
-- retry_at. Repeated with the same fence it answers as the first time.
local function first_answer(x, ARGV)
  local ended = leases.attempt_of(x, ARGV[3], ARGV[4], ARGV[5], 'attempt_state', 'lease_end',
    'ended_at', 'retry_at')
  -- A timeout ends an attempt in failure too, but no call of its worker did.
  if not ended or ended[1] ~= 'ended_failure' or ended[2] then return nil end
  if not ended[4] then return reply.ok('', 'failed', '') end
  local state = tonumber(ended[4]) > tonumber(ended[3]) and 'delayed' or 'waiting'
  return reply.ok('', state, ended[4])
end

commands.register('ff_fail', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, ARGV[3], ARGV[4], ARGV[5])
  if refused then return first_answer(x, ARGV) or refused end

  local reason, category = ARGV[6], ARGV[7]
  local at = policy.retry_at(x, policy.table(policy.of(x), 'retry_policy'), category)
  if at then
    ending.retry(x, reason, category, at)
  else
    ending.fail(x, reason, category)
  end
  execution.save(x)
  return reply.ok(events.tell(x, at and 'retry_scheduled' or 'failed', ARGV[2]), x.f.public_state,
    tostring(at or ''))
end)
