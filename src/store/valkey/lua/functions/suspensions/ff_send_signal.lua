-- Sends a signal to an execution that has not ended.
--   keys   core
--   args   now, origin, signal_id, name, waitpoint_id (empty: to the execution itself), payload, content_type,
--          source_type, source_identity, category, correlation_id, idempotency_key (empty: none),
--          dedup_window_ms
--   reply  OK event state signal_id effect, or DUPLICATE '' state signal_id effect of the first one with the
--          idempotency key
-- Repeated with the same signal id, it replies as the first time.
local signals_max = 10000

-- The reply of the first signal with the key.
local function find_known(x, known_key, idempotency_key)
  if idempotency_key == '' then return nil end
  local known = signals.known_by(server.call('HGET', known_key, idempotency_key))
  if not known or known.until_then <= x.now then return nil end
  return {1, 'DUPLICATE', '', x.f.public_state, signals.public_id(known.id, x.id), known.effect}
end

-- The open waitpoint that the signal is for; nil and the refusal if there is none.
local function target_of(waits, id)
  local waitpoint = suspending.find(waits, id)
  if not waitpoint then return nil, reply.refuse('waitpoint_not_found') end
  if not suspending.is_open(waits, waitpoint) then return nil, reply.refuse('waitpoint_closed') end
  return waitpoint
end

commands.register('ff_send_signal', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, id, name, waitpoint_id, payload, content_type, source_type, source_identity, category,
    correlation_id, idempotency_key, dedup_window_ms = unpack(ARGV)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local stored_id, first_effect = signals.find(x, id)
  if first_effect then return reply.ok('', x.f.public_state, id, first_effect) end
  local known_key = keys.of_execution(x.tag, x.id, 'signal_keys')
  local known = find_known(x, known_key, idempotency_key)
  if known then return known end
  if x.f.lifecycle_phase == 'terminal' then
    return reply.refuse('target_not_signalable', x.f.public_state)
  end
  local waits, waitpoint, refused = suspending.load(x), nil, nil
  if waitpoint_id ~= '' then
    waitpoint, refused = target_of(waits, waitpoint_id)
    if not waitpoint then return refused end
  end
  refused = signals.is_full(x, signals_max)
  if refused then return refused end

  local signal = {
    id = stored_id, name = name, waitpoint = waitpoint, payload = payload, source_type = source_type,
    source_identity = source_identity,
    fields = {
      signal_category = category, correlation_id = correlation_id, content_type = content_type,
    },
  }
  local event = signals.accept(waits, signal)
  if idempotency_key ~= '' then
    local until_then = string.format('%.0f', x.now + dedup_window_ms)
    server.call('HSET', known_key, idempotency_key, until_then .. '\31' .. signal.effect .. '\31' .. stored_id)
  end
  suspending.save(waits)
  execution.save(x)
  return reply.ok(events.tell(x, event, origin), execution.reached(x), id, signal.effect)
end)
