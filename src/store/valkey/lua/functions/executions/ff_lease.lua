-- Gives one execution to a worker.
--   keys   core
--   args   now, origin, source (ready, grant or held), worker, capabilities (CSV), lease_id, attempt_id,
--          lease_ttl_ms, admission (its quota's token) and admitted_until (both checked if source is ready)
--   reply  OK event namespace lane kind content_type traceparent attempt_index attempt_type resumed (1 or
--          0) lease_id lease_epoch attempt_id lease_expires_at attempt_deadline_at deadline budget_ids
--          tags…; of a node, '' and its flow and name there; if a suspension of the attempt has ended
--          (lib/suspending.lua), '' and how
-- Repeated with the same lease id and worker, it replies as the first time. The payload is not in the
-- reply: a GET costs less than bytes that pass through Lua. Without the last two args budget_ids is left
-- out.
local function grant_refusal(x, worker)
  local f = x.f
  if not f.grant_expires_at then
    if execution.is_claimable(x) then return reply.refuse('invalid_claim_grant') end
    return reply.refuse('execution_not_leaseable', f.public_state)
  end
  if f.granted_to ~= worker then return reply.refuse('invalid_claim_grant') end
  if tonumber(f.grant_expires_at) <= x.now then return reply.refuse('claim_grant_expired') end
end

local function ready_refusal(x, capabilities, admission, admitted_until)
  if not execution.is_claimable(x) then
    if x.f.grant_expires_at then return reply.refuse('grant_already_exists') end
    return reply.refuse('execution_not_leaseable', x.f.public_state)
  end
  local missing = leases.missing(x, capabilities)
  if missing then return reply.refuse('capability_mismatch', missing) end
  return leases.check_admission(x, admission, admitted_until)
end

-- Where another program marked the expired lease, it did not count.
local function is_lost_too_often(x)
  return x.f.ownership_state == 'lease_expired_reclaimable'
    and execution.count(x, 'lease_reclaim_count') >= policy.max_reclaims(x)
end

-- `kind` is the type of an attempt that has just begun.
local function claimed(x, event, with_budgets, kind)
  local f, resumed = x.f, '0'
  if not kind then
    local attempt = attempts.values(x, 'attempt_type', 'past_leases')
    kind, resumed = attempt[1], attempt[2] and '1' or '0'
  end
  local answer = reply.ok(event, f.namespace, f.lane_id, f.execution_kind, f.content_type or '',
    f.traceparent or '', tostring(folded.index(f)), kind, resumed, f.current_lease_id,
    tostring(f.current_lease_epoch), f.current_attempt_id, f.lease_expires_at,
    tostring(f.attempt_deadline_at or ''), tostring(f.deadline or ''))
  if with_budgets then answer[#answer + 1] = f.budget_ids or '' end
  if f.has_tags then
    for _, text in ipairs(server.call('HGETALL', keys.of_execution(x.tag, x.id, 'tags'))) do
      answer[#answer + 1] = text
    end
  end
  if f.flow_id then
    answer[#answer + 1] = ''
    answer[#answer + 1] = 'flow\31' .. f.flow_id .. '\31' .. (f.node or '')
  end
  if f.wake then
    answer[#answer + 1] = ''
    answer[#answer + 1] = f.wake
  end
  return answer
end

local function lease(core_key, ARGV)
  local origin, source, worker, capabilities = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
  local lease_id, attempt_id, ttl_ms = ARGV[6], ARGV[7], ARGV[8]
  local admission, admitted_until = ARGV[9], ARGV[10]

  local x = execution.load(core_key, arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local f = x.f
  if f.ownership_state == 'leased' and f.current_lease_id == lease_id
    and f.current_worker_id == worker and tonumber(f.lease_expires_at) > x.now then
    return claimed(x, '', admission)
  end
  if source == 'held' then return reply.refuse('execution_not_leaseable', 'held') end
  local refused
  if source == 'grant' then
    refused = grant_refusal(x, worker)
  else
    refused = ready_refusal(x, capabilities, admission, admitted_until)
  end
  refused = refused or flows.check_start(x)
  if refused then return refused end
  if is_lost_too_often(x) then
    ending.give_up(x)
    execution.save(x)
    events.tell(x, 'failed')
    return reply.refuse('execution_not_leaseable', x.f.public_state)
  end

  local kind = leases.begin(x, {
    worker = worker, lease_id = lease_id, attempt_id = attempt_id, ttl = tonumber(ttl_ms),
    admission = source == 'ready' and admission or nil,
  })
  execution.save(x)
  return claimed(x, events.tell(x, 'claimed', origin), admission, kind)
end

commands.register('ff_lease', function(KEYS, ARGV)
  return plain.lease(KEYS[1], ARGV) or lease(KEYS[1], ARGV)
end)

-- What follows the event in the reply of ff_lease, up to its tags.
local fields_first, fields_last = 4, 18

-- Gives several executions to a worker.
--   keys   cores
--   args   now, worker, capabilities (CSV), lease_ttl_ms, then of each: origin, lease_id, attempt_id, admission,
--          admitted_until
--   reply  OK and the reply of ff_lease of each, with its values up to the tags joined by byte 31: many values cost much
joined.register('ff_lease_many', 4, 5, function(core_key, ARGV, first)
  local argv = {
    ARGV[1], ARGV[first + 1], 'ready', ARGV[2], ARGV[3], ARGV[first + 2], ARGV[first + 3], ARGV[4], ARGV[first + 4],
    ARGV[first + 5],
  }
  local answer = plain.lease(core_key, argv) or lease(core_key, argv)
  if answer[1] == 0 then return answer end
  return {answer[1], answer[2], answer[3], table.concat(answer, '\31', fields_first, fields_last),
    unpack(answer, fields_last + 1)}
end)
