-- Taking, proving and losing leases.
local leases = {}

local lease_fields = {
  'current_lease_id', 'current_worker_id', 'current_worker_instance_id', 'lease_expires_at',
  'lease_last_renewed_at', 'lease_renewal_deadline', 'lease_expired_at', 'lease_revoked_at',
  'lease_revoke_reason', 'lease_acquired_at', 'attempt_deadline_at',
}

function leases.clear(x)
  attempts.unfold(x)  -- which needs them
  execution.drop_all(x, lease_fields)
end

function leases.not_active(x)
  local f = x.f
  return reply.refuse('execution_not_active', f.terminal_outcome, f.current_lease_epoch or '0',
    f.lifecycle_phase, f.current_attempt_id or '', f.public_state)
end

-- Refuses whoever does not hold the lease that (lease_id, epoch, attempt_id) proves. A lease that
-- expires now has expired. nil: it holds.
function leases.check(x, lease_id, epoch, attempt_id)
  local f = x.f
  if f.lifecycle_phase ~= 'active' then return leases.not_active(x) end
  if f.ownership_state == 'lease_revoked' then return reply.refuse('lease_revoked') end
  if f.ownership_state ~= 'leased' or tonumber(f.lease_expires_at) <= x.now then
    return reply.refuse('lease_expired')
  end
  if f.current_lease_id ~= lease_id or f.current_lease_epoch ~= epoch
    or f.current_attempt_id ~= attempt_id then
    return reply.refuse('stale_lease')
  end
  return nil
end

-- Whether the newest attempt was this fence's, and what became of it: its fields in the order asked
-- for, or nil. A call that is repeated because its reply was lost finds here what it did.
function leases.attempt_of(x, lease_id, epoch, attempt_id, ...)
  local f = x.f
  if f.current_lease_epoch ~= epoch or not folded.index(f) or f.pending_replay_at then
    return nil
  end
  local stored = attempts.values(x, 'lease_id', 'lease_epoch', 'attempt_id', ...)
  if stored[1] ~= lease_id or stored[2] ~= epoch or stored[3] ~= attempt_id then return nil end
  return {unpack(stored, 4)}
end

local of_the_queue = {'grant_expires_at', 'granted_to', 'attempt_left_ms', 'delay_until'}

-- Gives it to a worker under a new lease. `want` has worker, instance, lease_id, attempt_id, ttl, and
-- maybe renew_before, attempt_timeout, admission (by its quota; nil: that of the grant, if there is one).
function leases.begin(x, want)
  local f, now = x.f, x.now
  local epoch = execution.count(x, 'current_lease_epoch') + 1
  local kind = attempts.next_type(x)
  local time_left
  if kind then
    time_left = want.attempt_timeout or tonumber(f.attempt_timeout_ms)
    if kind == 'reclaim' then
      execution.put(x, {lease_reclaim_count = execution.count(x, 'lease_reclaim_count') + 1})
      attempts.close_stream(x, 'reclaimed')
    end
    attempts.start(x, kind, want, epoch)
  else
    time_left = want.attempt_timeout or tonumber(f.attempt_left_ms)
    attempts.resume(x, want, epoch)
  end
  if f.grant_expires_at then server.call('DEL', keys.of_execution(x.tag, x.id, 'claim_grant')) end
  execution.drop_all(x, lease_fields)
  execution.drop_all(x, of_the_queue)
  execution.become_active(x)
  local changed = x.changed
  f.current_lease_id, changed.current_lease_id = want.lease_id, true
  f.current_lease_epoch, changed.current_lease_epoch = epoch, true
  f.current_worker_id, changed.current_worker_id = want.worker, true
  if x.by_contract or not kind then  -- else it began with the attempt
    f.lease_acquired_at, changed.lease_acquired_at = x.at, true
  end
  f.lease_expires_at, changed.lease_expires_at = string.format('%.0f', now + want.ttl), true
  if want.instance then execution.put(x, {current_worker_instance_id = want.instance}) end
  if want.renew_before then
    execution.put(x, {lease_renewal_deadline = now + want.renew_before})
  end
  if want.admission and (f.admission or want.admission ~= '') then
    execution.put_text(x, 'admission', want.admission)
  end
  if time_left then execution.put(x, {attempt_deadline_at = now + time_left}) end
  if not f.started_at then f.started_at, changed.started_at = x.at, true end
  return kind, epoch
end

-- The lease ran out or was taken away: the attempt is over, and another worker may begin the next.
function leases.lose(x, ownership, reason)
  execution.become_lost(x, ownership)
  if ownership == 'lease_revoked' then
    execution.put(x, {lease_revoked_at = x.now})
    execution.put_text(x, 'lease_revoke_reason', reason)
  else
    execution.put(x, {lease_expired_at = x.now})
  end
  attempts.finish(x, {
    state = 'interrupted_reclaimed',
    lease_end = ownership == 'lease_revoked' and 'revoked' or 'expired',
    reason = attempts.loss(x.f),
    stream = ownership == 'lease_revoked' and 'lease_revoked' or 'lease_expired',
  })
  execution.drop(x, 'attempt_deadline_at')
end

-- An execution with a quota starts only with a valid admission: an expired one may have been taken
-- for lost, and its slot given to another.
function leases.check_admission(x, admission, valid_until)
  local quota = x.f.quota_policy_id
  if not quota then return nil end
  if arguments.given(admission) and (tonumber(valid_until) or 0) > x.now then return nil end
  return reply.refuse('admission_expired', quota)
end

-- ---- Capabilities ------------------------------------------------------------------------------

local tokens_max, csv_bytes_max = 256, 4096

-- The tokens of a comma-separated list as a set, or nil and the refusal.
function leases.tokens(csv, side)
  if #csv > csv_bytes_max then
    return nil, reply.refuse('invalid_capabilities', side .. ':too_many_bytes')
  end
  local set, count = {}, 0
  for token in string.gmatch(csv, '[^,]+') do
    set[token] = true
    count = count + 1
  end
  if count > tokens_max then
    return nil, reply.refuse('invalid_capabilities', side .. ':too_many_tokens')
  end
  return set
end

-- Required capabilities that the worker lacks, sorted; nil if none.
function leases.missing(x, worker_csv)
  local required = x.f.required_capabilities
  if not required then return nil end
  local offered, missing = leases.tokens(worker_csv, 'worker') or {}, {}
  for token in string.gmatch(required, '[^,]+') do
    if not offered[token] then missing[#missing + 1] = token end
  end
  if #missing == 0 then return nil end
  table.sort(missing)
  return table.concat(missing, ',')
end

return leases
