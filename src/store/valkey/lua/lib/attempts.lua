-- Attempts and their leases. A lease's end is told by its attempt's fields; leases before the newest
-- one (of an attempt that paused) stand in `past_leases`.
local attempts = {}

local past_leases_max = 32

-- Of an attempt that is not folded.
function attempts.key(x)
  return keys.attempt(x.tag, x.id, x.f.current_attempt_index)
end

-- Fields of the newest attempt, as HMGET has them.
function attempts.values(x, ...)
  if not folded.is(x.f) then return server.call('HMGET', attempts.key(x), ...) end
  local record, values = folded.record(x.f), {}
  for i, field in ipairs({...}) do
    values[i] = false
    for j = 1, #record, 2 do
      if record[j] == field then values[i] = record[j + 1] end
    end
  end
  return values
end

-- The newest attempt as it is stored, or would be; empty if there was none.
function attempts.newest(x)
  if folded.is(x.f) then return folded.record(x.f) end
  return x.f.current_attempt_index and server.call('HGETALL', attempts.key(x)) or {}
end

-- Gives a folded attempt a hash of its own.
function attempts.unfold(x)
  if not folded.is(x.f) then return end
  server.call('HSET', keys.attempt(x.tag, x.id, '0'), unpack(folded.record(x.f)))
  execution.put(x, {current_attempt_index = '0'})
end

-- Type of the attempt that the next claim begins. nil: the claim resumes the newest attempt.
function attempts.next_type(x)
  local f = x.f
  if f.attempt_state == 'pending_first_attempt' then return 'initial' end
  if f.attempt_state == 'pending_retry_attempt' then return 'retry' end
  if f.attempt_state == 'pending_replay_attempt' then return 'replay' end
  if f.lifecycle_phase == 'active' then return 'reclaim' end
  return nil
end

-- Why the worker before lost the execution.
function attempts.loss(f)
  if f.ownership_state ~= 'lease_revoked' then return 'lease expired' end
  if not f.lease_revoke_reason then return 'lease revoked' end
  return 'lease revoked: ' .. f.lease_revoke_reason
end

local function add_lineage(record, f, kind)
  local function add(field, value)
    if value == nil then return end
    record[#record + 1] = field
    record[#record + 1] = value
  end
  if kind == 'retry' then
    add('retry_reason', f.pending_retry_reason)
    add('previous_attempt_index', f.pending_previous_attempt_index or f.current_attempt_index)
  elseif kind == 'replay' then
    add('replay_reason', f.pending_replay_reason)
    add('replay_requested_by', f.pending_replay_requested_by)
    add('replay_requested_at', f.pending_replay_at)
    add('replayed_from_attempt_index', f.current_attempt_index)
  elseif kind == 'reclaim' then
    add('reclaim_reason', attempts.loss(f))
    add('previous_attempt_index', f.current_attempt_index)
  end
end

local of_the_attempt_before = {
  'pending_retry_reason', 'pending_previous_attempt_index', 'pending_replay_reason',
  'pending_replay_requested_by', 'pending_replay_at', 'pending_replay_attempt', 'progress_pct',
  'progress_message', 'progress_updated_at',
}

-- `want` has worker, instance, lease_id, attempt_id.
function attempts.start(x, kind, want, epoch)
  local f = x.f
  local index = execution.count(x, 'total_attempt_count')
  local changed = x.changed
  f.current_attempt_id, changed.current_attempt_id = want.attempt_id, true
  f.total_attempt_count, changed.total_attempt_count = index + 1, true
  if kind == 'initial' and not x.by_contract then return end  -- folded
  local record = {
    'attempt_id', want.attempt_id, 'attempt_index', index, 'attempt_type', kind,
    'attempt_state', 'started', 'started_at', x.at, 'lease_id', want.lease_id,
    'lease_epoch', epoch, 'worker_id', want.worker,
  }
  if want.instance then
    record[#record + 1] = 'worker_instance_id'
    record[#record + 1] = want.instance
  end
  add_lineage(record, f, kind)
  server.call('HSET', keys.attempt(x.tag, x.id, index), unpack(record))
  if x.by_contract then server.call('ZADD', keys.of_execution(x.tag, x.id, 'attempts'), x.at, index) end
  f.current_attempt_index, changed.current_attempt_index = index, true
  execution.drop_all(x, of_the_attempt_before)
end

-- The lease before goes to the past ones; the oldest is forgotten beyond the limit.
function attempts.resume(x, want, epoch)
  local key = attempts.key(x)
  local old = server.call('HMGET', key, 'past_leases', 'lease_id', 'lease_epoch', 'worker_id',
    'acquired_at', 'started_at', 'suspended_at', 'suspension_id', 'suspension_reason')
  local past = old[1] and cjson.decode(old[1]) or {}
  past[#past + 1] = {old[2], old[3], old[4], old[5] or old[6], old[7], old[8], old[9] or ''}
  if #past > past_leases_max then table.remove(past, 1) end
  server.call('HSET', key, 'past_leases', cjson.encode(past), 'attempt_state', 'started',
    'resumed_at', x.now, 'acquired_at', x.now, 'lease_id', want.lease_id, 'lease_epoch', epoch,
    'worker_id', want.worker)
  server.call('HDEL', key, 'suspended_at', 'suspension_id', 'suspension_reason')
  if want.instance then
    server.call('HSET', key, 'worker_instance_id', want.instance)
  else
    server.call('HDEL', key, 'worker_instance_id')
  end
end

function attempts.pause(x, how, reason)
  attempts.unfold(x)
  local record = {'attempt_state', 'suspended', 'suspended_at', x.at, 'suspension_id', how}
  if reason and reason ~= '' then
    record[#record + 1] = 'suspension_reason'
    record[#record + 1] = reason
  end
  server.call('HSET', attempts.key(x), unpack(record))
end

-- Closes the contract's stream of the newest attempt, if programs of the contract wrote to it.
function attempts.close_stream(x, reason)
  if not (x.by_contract or x.f.has_attempt_streams) then return end
  local meta = keys.stream_meta(x.tag, x.id, folded.index(x.f))
  if server.call('EXISTS', meta) == 1 then
    server.call('HSET', meta, 'closed_at', x.at, 'closed_reason', reason)
  end
end

local ending_fields = {
  'reason', 'failure_reason', 'category', 'failure_category', 'lease_end', 'lease_end',
  'retry_at', 'retry_at',
}

-- Ends the newest attempt if it is open. `ending` has state and stream (why its stream is closed), and
-- maybe lease_end (how the lease ended, if the state does not say it), reason, category, retry_at.
function attempts.finish(x, ending)
  if not folded.index(x.f) then return end
  attempts.unfold(x)
  local record, n = {'attempt_state', ending.state, 'ended_at', x.at}, 4
  for i = 1, #ending_fields, 2 do
    local value = ending[ending_fields[i]]
    if value ~= nil and value ~= '' then
      record[n + 1], record[n + 2] = ending_fields[i + 1], value
      n = n + 2
    end
  end
  server.call('HSET', attempts.key(x), unpack(record))
  attempts.close_stream(x, ending.stream)
end

function attempts.is_open(x)
  return folded.index(x.f) ~= nil
    and (x.f.attempt_state == 'running_attempt'
      or x.f.attempt_state == 'attempt_interrupted' and x.f.lifecycle_phase ~= 'active')
end

return attempts
