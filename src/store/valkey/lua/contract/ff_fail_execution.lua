-- Ends an attempt in failure, and the execution too unless its policy retries. KEYS: 1 core, 2 attempt,
-- 3 lease_expiry, 4 worker leases, 5 lane terminal, 6 lane delayed, 7 lease:current, 8 lease:history,
-- 9 lane active, 10 stream meta, 11 attempt_timeout, 12 execution_deadline. ARGV: 1 execution_id,
-- 2 lease_id, 3 lease_epoch, 4 attempt_id, 5 failure_reason, 6 failure_category, 7 retry_policy_json
-- (empty: the stored one), 8 source. Replies OK retry_scheduled delay_until, or OK terminal_failed.
local function retry_policy(x, text)
  if text and text ~= '' then return policy.decode(text) end
  return policy.table(policy.of(x), 'retry_policy')
end

server.register_function('ff_fail_execution', function(KEYS, ARGV)
  local x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  local fence = {lease_id = ARGV[2], epoch = ARGV[3], attempt_id = ARGV[4]}
  refused = fencing.check(x, fence, ARGV[8])
  if refused then return refused end

  local reason, category = ARGV[5] or '', ARGV[6] or ''
  local at = policy.retry_at(x, retry_policy(x, ARGV[7]), category)
  if not at then
    ending.fail(x, reason, category)
    contract.save(x, 'failed')
    return reply.ok('terminal_failed')
  end
  local index = x.f.current_attempt_index
  ending.retry(x, reason, category, at)
  execution.become_delayed(x, at, 'waiting_for_retry_backoff', 'pending_retry_attempt')
  execution.put(x, {
    blocking_detail = string.format('retry backoff until %.0f (attempt %s failed: ', at, index)
      .. reason .. ')',
  })
  contract.save(x, 'retry_scheduled')
  return reply.ok('retry_scheduled', tostring(at))
end)
