-- Ends an attempt in failure, and the execution too unless its policy retries.
--   keys   core, attempt, lease_expiry, worker leases, lane terminal, lane delayed, lease:current,
--          lease:history, lane active, stream meta, attempt_timeout, execution_deadline
--   args   execution_id, lease_id, lease_epoch, attempt_id, failure_reason, failure_category,
--          retry_policy_json (empty: the stored one), source
--   reply  OK retry_scheduled delay_until, or OK terminal_failed
-- Repeated with the same fence, it replies as the first time.
local function retry_policy(x, text)
  if text and text ~= '' then return policy.decode(text) end
  return policy.table(policy.of(x), 'retry_policy')
end

-- A timeout ends an attempt in failure too, also a paused one, but without a call of its worker.
local function first_reply(x, fence)
  local ended = fencing.attempt_of(x, fence, 'attempt_state', 'lease_end', 'retry_at', 'suspended_at')
  if not ended or ended[1] ~= 'ended_failure' or ended[2] or ended[4] then return nil end
  return ended[3] and reply.ok('retry_scheduled', ended[3]) or reply.ok('terminal_failed')
end

server.register_function('ff_fail_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, reason, category, retry_policy_json = ARGV[1], ARGV[5] or '', ARGV[6] or '', ARGV[7]
  local fence, source = {lease_id = ARGV[2], epoch = ARGV[3], attempt_id = ARGV[4]}, ARGV[8]

  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  refused = fencing.check(x, fence, source)
  if refused then return first_reply(x, fence) or refused end

  local at = policy.retry_at(x, retry_policy(x, retry_policy_json), category)
  if not at then
    ending.fail(x, reason, category)
    contract.save(x, 'failed')
    return reply.ok('terminal_failed')
  end
  local index = folded.index(x.f)
  ending.retry(x, reason, category, at)
  execution.become_delayed(x, at, 'waiting_for_retry_backoff', 'pending_retry_attempt')
  execution.put(x, {
    blocking_detail = string.format('retry backoff until %.0f (attempt %s failed: ', at, index)
      .. reason .. ')',
  })
  contract.save(x, 'retry_scheduled')
  return reply.ok('retry_scheduled', tostring(at))
end)
