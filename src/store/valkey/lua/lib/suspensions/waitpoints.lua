-- Shared code of the contract's functions about waitpoints and signals.
local waitpoints = {}

local payload_bytes_max = 256 * 1024

function waitpoints.ring(x)
  return 'ff:sec:' .. x.tag .. ':waitpoint_hmac'
end

-- Fields of a waitpoint of the execution, also of one that is over; nil if it has no such waitpoint.
function waitpoints.of(x, waits, id)
  local known = suspending.find(waits, id)
  if known then return known.f end
  local flat, f = server.call('HGETALL', keys.waitpoint(x.tag, id)), {}
  for i = 1, #flat, 2 do
    if flat[i + 1] ~= '' then f[flat[i]] = flat[i + 1] end
  end
  return f.execution_id == x.id and f or nil
end

-- A fresh or pending waitpoint with its token, to be added; or nil and the refusal. `ring_key` is as given: a
-- program must name it.
function waitpoints.make(x, ring_key, id, key)
  local token, refused = tokens.mint(arguments.given(ring_key) and waitpoints.ring(x), id, key, x.at)
  if not token then return nil, refused end
  return {
    waitpoint_id = id, execution_id = x.id, attempt_index = folded.index(x.f),
    waitpoint_key = key, waitpoint_token = token, created_at = x.at, signal_count = '0',
    matched_signal_count = '0',
  }
end

-- Refuses an id that has been used: by another execution, or for a waitpoint that is open.
function waitpoints.check_new(x, waits, id)
  local f = waitpoints.of(x, waits, id)
  if f and f.state ~= 'closed' then return reply.refuse('waitpoint_already_exists') end
  if not f and server.call('EXISTS', keys.waitpoint(x.tag, id)) == 1 then
    return reply.refuse('invalid_waitpoint_for_execution')
  end
end

-- Makes way for a new waitpoint with the id of one that is over.
function waitpoints.replace(x, waits, id)
  local function without(list)
    local kept = {}
    for _, waitpoint in ipairs(list or {}) do
      if waitpoint.id ~= id then kept[#kept + 1] = waitpoint end
    end
    return kept
  end
  waits.waitpoints, waits.dropped = without(waits.waitpoints), without(waits.dropped)
  local key = keys.waitpoint(x.tag, id)
  server.call('UNLINK', key, key .. ':condition', key .. ':signals')
end

-- ---- Signals --------------------------------------------------------------------------------------

-- The arguments of both functions that take signals (ff_deliver_signal), or the refusal as a second value.
function waitpoints.read_signal(ARGV)
  local id, _, waitpoint_id, name, category, source_type, source_identity, payload, encoding,
    idempotency_key, correlation_id, scope, created_at, dedup_ttl_ms, resume_delay_ms, maxlen,
    max_signals, token = unpack(ARGV, 1, 18)
  local read = arguments.reader()
  local function text(value) return value or '' end
  local signal = {
    id = read:text('signal_id', id), waitpoint_id = read:text('waitpoint_id', waitpoint_id),
    name = text(name), source_type = text(source_type), source_identity = text(source_identity),
    payload = text(payload), token = token, idempotency_key = text(idempotency_key),
    dedup_ttl = dedup_ttl_ms == nil and 86400000
      or read:optional_number('dedup_ttl_ms', dedup_ttl_ms, nil, arguments.duration_max) or 0,
    resume_delay = read:optional_number('resume_delay_ms', resume_delay_ms, 0, arguments.duration_max),
    maxlen = read:optional_number('signal_maxlen', maxlen, 0) or 1000,
    max_signals = read:optional_number('max_signals_per_execution', max_signals) or 10000,
  }
  local created = read:optional_time('created_at', created_at)
  signal.fields = {
    signal_id = text(id), signal_category = text(category), correlation_id = text(correlation_id),
    target_scope = scope or 'waitpoint', payload_encoding = encoding or 'json',
    idempotency_key = signal.idempotency_key, matched_waitpoint_id = text(waitpoint_id),
    created_at = created and string.format('%.0f', created) or '',
  }
  if signal.resume_delay == 0 then signal.resume_delay = nil end
  if #signal.payload > payload_bytes_max then
    read:keep(nil, reply.refuse('payload_too_large', tostring(payload_bytes_max)))
  end
  return signal, read.refused
end

-- Refuses a token that is not this waitpoint's, and notes it. A waitpoint of another execution, and one that
-- does not exist, are answered as a wrong token.
function waitpoints.check_token(x, f, signal, ring_key)
  if not f or not f.created_at then return reply.refuse('invalid_token') end
  local refused = tokens.check(arguments.given(ring_key) and waitpoints.ring(x), signal.token,
    signal.waitpoint_id, f.waitpoint_key or '', f.created_at, x.now)
  if not refused then return nil end
  execution.put(x, {last_hmac_validation_failed_at = x.at})
  execution.save(x)
  return refused
end

-- The reply to a signal that has arrived before with the same id. nil: none has.
function waitpoints.repeated(x, signal)
  local stored_id, effect = signals.find(x, signal.id)
  if effect then return reply.ok(signal.id, effect) end
  return stored_id ~= signal.id
    and reply.refuse('invalid_input', 'signal_id is that of another execution\'s signal') or nil
end

-- The refusal of one too many, or the reply to a signal whose idempotency key is known. nil: it is new.
function waitpoints.known(x, signal)
  local full = signals.is_full(x, signal.max_signals > 0 and signal.max_signals or nil)
  if full then return reply.refuse(full[2]) end
  if signal.idempotency_key == '' or signal.dedup_ttl <= 0 then return nil end
  local first = server.call('GET', keys.signal_dedup(x.tag, signal.waitpoint_id, signal.idempotency_key))
  return first and {1, 'DUPLICATE', first}
end

local function add_to_stream(x, signal)
  server.call('XADD', keys.waitpoint(x.tag, signal.waitpoint_id) .. ':signals', 'MAXLEN', '~',
    signal.maxlen, '*', 'signal_id', signal.id, 'signal_name', signal.name, 'signal_category',
    signal.fields.signal_category, 'source_type', signal.source_type, 'source_identity',
    signal.source_identity, 'matched', signal.counted_for and '1' or '0', 'accepted_at', x.at)
end

-- Takes a signal in and tells of it. Its waitpoint is open.
function waitpoints.accept(x, waits, signal)
  signal.waitpoint = suspending.find(waits, signal.waitpoint_id)
  if signal.fields.created_at == '' then signal.fields.created_at = x.at end
  signal.fields.target_execution_id = x.id
  local event = signals.accept(waits, signal)
  add_to_stream(x, signal)
  if signal.idempotency_key ~= '' and signal.dedup_ttl > 0 then
    server.call('SET', keys.signal_dedup(x.tag, signal.waitpoint_id, signal.idempotency_key), signal.id,
      'PX', signal.dedup_ttl)
  end
  suspending.note_signal(waits, signal)
  suspending.save(waits)
  contract.save(x, event)
  return reply.ok(signal.id, signal.effect)
end

return waitpoints
