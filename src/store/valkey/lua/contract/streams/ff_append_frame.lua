-- Appends a frame to the stream of the running attempt.
--   keys   core, stream, stream meta, summary (of the mode summary)
--   args   execution_id, attempt_index, lease_id, lease_epoch, frame_type, ts, payload, encoding, correlation_id,
--          source, retention_maxlen, attempt_id, max_payload_bytes, stream_mode, patch_kind, ttl_ms, maxlen_floor,
--          maxlen_ceiling, ema_alpha
--   reply  OK entry_id frame_count, and with a stream_mode summary_version or ''
-- A refusal says in its first detail why, where several causes have one code. The call has no key that tells a
-- repetition: repeated after a lost reply, it appends once more.
local lease_fields = {
  'lifecycle_phase', 'ownership_state', 'lease_expires_at', 'current_attempt_index', 'current_lease_id',
  'current_lease_epoch', 'total_attempt_count', 'has_streams', 'has_attempt_streams',
}

-- The execution with no more than it takes to append.
local function load(core_key, tag, id)
  local values, f, now = server.call('HMGET', core_key, unpack(lease_fields)), {}, arguments.now()
  for i, field in ipairs(lease_fields) do f[field] = values[i] and arguments.given(values[i]) end
  return {key = core_key, tag = tag, id = id, f = f, now = now, at = arguments.time_text(now)}
end

local function check_owner(x, attempt_index, lease_id, lease_epoch)
  local f = x.f
  if f.lifecycle_phase ~= 'active' then
    return reply.refuse('stream_closed', f.lifecycle_phase and 'execution_not_active' or 'execution_not_found')
  end
  local stale
  if f.ownership_state == 'lease_revoked' then
    stale = 'lease_revoked'
  elseif f.ownership_state == 'lease_expired_reclaimable' or (tonumber(f.lease_expires_at) or 0) <= x.now then
    stale = 'lease_expired'
  elseif folded.index(f) ~= attempt_index or f.current_lease_id ~= lease_id
    or f.current_lease_epoch ~= lease_epoch then
    stale = 'stale_lease'
  end
  return stale and reply.refuse('stale_owner_cannot_append', stale)
end

-- Or nil and the refusal.
local function read_frame(x, ARGV)
  local read = arguments.reader()
  local frame = {
    frame_type = ARGV[5] or '', ts = arguments.given(ARGV[6] or '') or x.at, payload = ARGV[7] or '',
    encoding = ARGV[8] or 'utf8', correlation_id = ARGV[9] or '', source = ARGV[10] or 'worker',
    attempt_id = ARGV[12] or '', mode = arguments.given(ARGV[14] or '') or 'durable', patch_kind = ARGV[15] or '',
    retention = read:whole('retention_maxlen', ARGV[11] or '0', 0),
    ttl = 0,
  }
  if frame.mode == 'best_effort' then
    frame.ttl = read:number('ttl_ms', ARGV[16] or '0', 0, arguments.duration_max)
    local floor = read:optional_number('maxlen_floor', ARGV[17]) or 0
    local ceiling = read:optional_number('maxlen_ceiling', ARGV[18]) or 0
    frame.floor = floor > 0 and floor or 64
    frame.ceiling = math.max(ceiling > 0 and ceiling or 16384, frame.floor)
    local alpha = tonumber(ARGV[19]) or 0
    frame.alpha = alpha > 0 and alpha <= 1 and alpha or 0.2
  end
  if read.refused then return nil, read.refused end
  return frame
end

server.register_function('ff_append_frame', function(KEYS, ARGV)
  local core_key, summary_key = KEYS[1], KEYS[4]
  local id, attempt_index, lease_id, lease_epoch = unpack(ARGV, 1, 4)

  local payload_max, refused = arguments.number('max_payload_bytes', ARGV[13] or '65536')
  if refused then return refused end
  if #(ARGV[7] or '') > payload_max then return reply.refuse('retention_limit_exceeded', 'payload_too_large') end
  local tag
  tag, refused = contract.identify(core_key, id)
  if not tag then return refused end
  local x = load(core_key, tag, id)
  refused = check_owner(x, attempt_index, lease_id, lease_epoch)
  if refused then return refused end
  local frame, append, summary
  frame, refused = read_frame(x, ARGV)
  if refused then return refused end
  append, refused = attempt_streams.prepare(x, frame)
  if refused then return refused end
  if frame.mode == 'summary' then
    summary, refused = summaries.prepare(x, summary_key and append.index, frame)
    if refused then return refused end
  end

  local entry_id, count = attempt_streams.append(x, append, summary and summary.version)
  if summary then summaries.save(x, summary) end
  if not (x.f.has_streams and x.f.has_attempt_streams) then
    local whole = contract.find(core_key)
    execution.put(whole, {has_streams = 1, has_attempt_streams = 1})
    execution.save(whole)
  end
  events.tell_frames(tag, id)
  local answer = reply.ok(entry_id, tostring(count))
  if ARGV[14] then answer[#answer + 1] = summary and summary.version or '' end
  return answer
end)
