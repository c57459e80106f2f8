-- Sends a signal to a waitpoint, with its token.
--   keys   core, condition, waitpoint's signals, execution's signals, signal, its payload, sigdedup (or
--          ff:noop:…), waitpoint, suspension:current, lane eligible, lane suspended, lane delayed,
--          suspension_timeout, key ring; later also the partition's signal_delivery
--   args   signal_id, execution_id, waitpoint_id, signal_name, signal_category, source_type, source_identity,
--          payload, payload_encoding, idempotency_key, correlation_id, target_scope, created_at, dedup_ttl_ms,
--          resume_delay_ms, signal_maxlen, max_signals_per_execution (counts if the policy has no limit),
--          waitpoint_token
--   reply  OK signal_id effect, or DUPLICATE and the id of the first
-- Repeated with the same signal id, it replies as the first time.
local feed_max = 1000

local function refusal(x, waits, f, signal)
  local phase = x.f.lifecycle_phase
  if phase == 'terminal' then return reply.refuse('target_not_signalable') end
  local waitpoint = suspending.find(waits, signal.waitpoint_id)
  local state = waitpoint and suspending.is_open(waits, waitpoint) and f.state or 'closed'
  if phase ~= 'suspended' then
    return reply.refuse(state == 'pending' and 'waitpoint_pending_use_buffer_script'
      or 'target_not_signalable')
  end
  if state == 'pending' then return reply.refuse('waitpoint_not_found') end
  if state == 'closed' then return reply.refuse('waitpoint_closed') end
end

local function tell_feed(x, signal, feed_key)
  if not arguments.given(feed_key) or string.sub(feed_key, 1, 8) == 'ff:noop:' then return end
  server.call('XADD', 'ff:part:' .. x.tag .. ':signal_delivery', 'MAXLEN', '~', feed_max, '*', 'signal_id',
    signal.id, 'execution_id', x.id, 'waitpoint_id', signal.waitpoint_id, 'source_identity',
    signal.source_identity, 'effect', signal.effect, 'delivered_at_ms', x.at)
end

server.register_function('ff_deliver_signal', function(KEYS, ARGV)
  local core_key, ring_key, feed_key = KEYS[1], KEYS[14], KEYS[15]

  local signal, refused = waitpoints.read_signal(ARGV)
  if refused then return refused end
  local x
  x, refused = contract.load(core_key, ARGV[2])
  if not x then return refused end
  local waits = suspending.load(x)
  local f = waitpoints.of(x, waits, signal.waitpoint_id)
  refused = waitpoints.check_token(x, f, signal, ring_key)
  if refused then return refused end
  local before = waitpoints.repeated(x, signal) or refusal(x, waits, f, signal)
    or waitpoints.known(x, signal)
  if before then return before end

  local answer = waitpoints.accept(x, waits, signal)
  tell_feed(x, signal, feed_key)
  return answer
end)
