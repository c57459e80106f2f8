-- Gives one execution to a worker. KEYS: core. ARGV: now, origin, then:
--   3 source (ready, grant or held), 4 worker, 5 capabilities (CSV), 6 lease_id, 7 attempt_id,
--   8 lease_ttl_ms, 9 admission by its quota, 10 until when that is valid (looked at if it is ready)
-- Repeated with the same lease id and worker it answers as the first time. Replies OK event and what
-- the worker needs to begin, but for the payload: bytes that pass through Lua cost more than a GET. Who
-- gives no 9 and 10 is not told of budgets.
local function grant_refusal(x, worker)
  local f = x.f
  if not f.grant_expires_at then
    if execution.is_claimable(x) then return reply.refuse('invalid_claim_grant') end
    return reply.refuse('execution_not_leaseable', f.public_state)
  end
  if f.granted_to ~= worker then return reply.refuse('invalid_claim_grant') end
  if tonumber(f.grant_expires_at) <= x.now then return reply.refuse('claim_grant_expired') end
end

local function refusal(x, ARGV)
  local source, worker, capabilities = ARGV[3], ARGV[4], ARGV[5]
  if source == 'held' then return reply.refuse('execution_not_leaseable', 'held') end
  if source == 'grant' then return grant_refusal(x, worker) end
  if not execution.is_claimable(x) then
    if x.f.grant_expires_at then return reply.refuse('grant_already_exists') end
    return reply.refuse('execution_not_leaseable', x.f.public_state)
  end
  local missing = leases.missing(x, capabilities)
  if missing then return reply.refuse('capability_mismatch', missing) end
  return leases.check_admission(x, ARGV[9], ARGV[10])
end

-- Where another program marked the expired lease, nobody has counted yet.
local function is_lost_too_often(x)
  return x.f.ownership_state == 'lease_expired_reclaimable'
    and execution.count(x, 'lease_reclaim_count') >= policy.max_reclaims(x)
end

-- `kind` is the type of an attempt that has just begun.
local function claimed(x, event, with_budgets, kind)
  local f, resumed = x.f, '0'
  if not kind then
    local attempt = call('HMGET', attempts.key(x), 'attempt_type', 'past_leases')
    kind, resumed = attempt[1], attempt[2] and '1' or '0'
  end
  local answer = reply.ok(event, f.namespace, f.lane_id, f.execution_kind, f.content_type or '',
    f.traceparent or '', tostring(f.current_attempt_index), kind, resumed, f.current_lease_id,
    tostring(f.current_lease_epoch), f.current_attempt_id, f.lease_expires_at,
    tostring(f.attempt_deadline_at or ''), tostring(f.deadline or ''))
  if with_budgets then answer[#answer + 1] = f.budget_ids or '' end
  if not f.has_tags then return answer end
  for _, text in ipairs(call('HGETALL', keys.of_execution(x.tag, x.id, 'tags'))) do
    answer[#answer + 1] = text
  end
  return answer
end

commands.register('ff_lease', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local f, worker, lease_id = x.f, ARGV[4], ARGV[6]
  if f.ownership_state == 'leased' and f.current_lease_id == lease_id
    and f.current_worker_id == worker and tonumber(f.lease_expires_at) > x.now then
    return claimed(x, '', ARGV[9])
  end
  local refused = refusal(x, ARGV)
  if refused then return refused end
  if is_lost_too_often(x) then
    ending.give_up(x)
    execution.save(x)
    events.tell(x, 'failed')
    return reply.refuse('execution_not_leaseable', x.f.public_state)
  end
  local kind = leases.begin(x, {
    worker = worker, lease_id = lease_id, attempt_id = ARGV[7], ttl = tonumber(ARGV[8]),
    admission = ARGV[3] == 'ready' and ARGV[9] or nil,
  })
  execution.save(x)
  return claimed(x, events.tell(x, 'claimed', ARGV[2]), ARGV[9], kind)
end)
