-- Signals of an execution. Each has a hash, and its payload beside it; the sorted set of an execution's signals is
-- in the order of their arrival, so that the rank of one is its index.
local signals = {}

local score_step = 1 / 4096  -- the smallest difference that scores of this time can have

-- Signals that arrived before the suspension count, in their order, until they are enough. Returns the one that
-- was enough; nil if they are not. To be called after suspending.start.
function signals.count_earlier(waits)
  local x = waits.x
  local first, total = execution.count(x, 'first_uncounted'), execution.count(x, 'signal_count')
  if first >= total then return nil end
  local bound, last, uncounted = {}, nil, nil
  for _, waitpoint in ipairs(suspending.bound(waits)) do bound[waitpoint.id] = waitpoint end
  for i, id in ipairs(server.call('ZRANGE', keys.signals(x), first, -1)) do
    local key = keys.signal(x.tag, id)
    local f = server.call('HMGET', key, 'signal_name', 'target_waitpoint_id', 'source_type',
      'source_identity', 'counted_for')
    local waitpoint = f[2] and bound[f[2]]
    if not last and not f[5] and (waitpoint or not f[2]) then
      local signal = {
        id = id, name = f[1], waitpoint_key = waitpoint and (waitpoint.f.waitpoint_key or ''),
        source_type = f[3] or '', source_identity = f[4] or '',
      }
      local effect = suspending.count(waits, signal)
      if signal.counted_for then
        f[5] = signal.counted_for
        server.call('HSET', key, 'observed_effect', effect, 'counted_for', signal.counted_for)
        if waitpoint then suspending.add_counted(waitpoint) end
      end
      if effect == 'resume_condition_satisfied' then last = signal end
    end
    if not f[5] and not uncounted then uncounted = first + i - 1 end
  end
  execution.put(x, {first_uncounted = tostring(uncounted or total)})
  return last
end

-- Index order is rank order: of two scores at one instant, or after the clock went back, the later is higher.
local function next_score(x)
  local newest = server.call('ZRANGE', keys.signals(x), -1, -1, 'WITHSCORES')
  local score = tonumber(newest[2])
  return score and score >= x.now and score + score_step or x.now
end

local function write_signal(x, signal)
  local fields = {'signal_name', signal.name, 'accepted_at', x.at, 'observed_effect', signal.effect}
  for field, value in pairs(signal.fields) do
    if value ~= '' then
      fields[#fields + 1] = field
      fields[#fields + 1] = value
    end
  end
  local key = keys.signal(x.tag, signal.id)
  server.call('HSET', key, unpack(fields))
  if signal.payload ~= '' then server.call('SET', key .. ':payload', signal.payload) end
  server.call('ZADD', keys.signals(x), next_score(x), signal.id)
end

-- Takes a signal in. `signal` has id, name, source_type, source_identity, payload, fields (of its hash, beside
-- the name), and maybe waitpoint (open) and resume_delay. Sets its effect, and returns the event.
function signals.accept(waits, signal)
  local x, waitpoint = waits.x, signal.waitpoint
  signal.effect = 'buffered_for_pending_waitpoint'
  signal.waitpoint_key = waitpoint and (waitpoint.f.waitpoint_key or '')
  local is_bound = not waitpoint or waitpoint.f.state == 'active'
  if x.f.lifecycle_phase == 'suspended' and is_bound then signal.effect = suspending.count(waits, signal) end
  local fields, index = signal.fields, execution.count(x, 'signal_count')
  fields.counted_for = signal.counted_for or ''
  fields.source_type, fields.source_identity = signal.source_type, signal.source_identity
  if waitpoint then
    fields.target_waitpoint_id = waitpoint.id
    suspending.add_signal(waitpoint)
    if signal.counted_for then suspending.add_counted(waitpoint) end
  end
  execution.put(x, {signal_count = tostring(index + 1)})
  if signal.counted_for and execution.count(x, 'first_uncounted') == index then
    execution.put(x, {first_uncounted = tostring(index + 1)})
  end
  write_signal(x, signal)
  if signal.effect ~= 'resume_condition_satisfied' then return 'signalled' end
  suspending.resume(waits, 'signals', 'resumed',
    signal.resume_delay or tonumber(waits.suspension.resume_delay_ms or 0), signal)
  return 'resumed'
end

-- The effect of a signal that arrived before with the same id; nil if none did. Refuses the id of another
-- execution's signal.
function signals.effect_of(x, signal_id)
  local effect = server.call('HGET', keys.signal(x.tag, signal_id), 'observed_effect')
  if not effect then return nil end
  if server.call('ZSCORE', keys.signals(x), signal_id) then return effect end
  return nil, reply.refuse('signal_id_taken')
end

-- `otherwise`: without a limit in the policy.
function signals.is_full(x, otherwise)
  local max = tonumber(x.f.max_signals) or otherwise
  if max and execution.count(x, 'signal_count') >= max then
    return reply.refuse('signal_limit_exceeded', string.format('%.0f', max))
  end
end

return signals
