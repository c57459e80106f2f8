-- Signals of an execution. Each has a hash, and its payload beside it; the sorted set of an execution's signals is
-- in the order of their arrival, so that the rank of one is its index. Hashes are shared by all executions of a
-- partition: a signal whose id another execution's signal has is stored under `<id>:<execution id>`.
local signals = {}

local score_step = 1 / 4096  -- the smallest difference that scores of this time can have

-- Ids of signals that may count for a new suspension: those that were passed over by earlier suspensions, and those
-- that arrived since the newest one.
local function candidates(x)
  local key, total = keys.passed_over(x), execution.count(x, 'signal_count')
  local first, ids = execution.count(x, 'first_uncounted'), {}
  if total > 0 then ids = server.call('LRANGE', key, 0, -1) end
  if #ids > 0 then server.call('DEL', key) end
  if first < total then
    for _, id in ipairs(server.call('ZRANGE', keys.signals(x), first, -1)) do ids[#ids + 1] = id end
    execution.put(x, {first_uncounted = tostring(total)})
  end
  return ids
end

-- Signals that arrived before the suspension count, in their order, until they are enough. Returns the one that
-- was enough; nil if they are not. To be called after suspending.start.
function signals.count_earlier(waits)
  local x, bound, last = waits.x, {}, nil
  for _, waitpoint in ipairs(suspending.bound(waits)) do bound[waitpoint.id] = waitpoint end
  for _, id in ipairs(candidates(x)) do
    local key = keys.signal(x.tag, id)
    local f = server.call('HMGET', key, 'signal_name', 'target_waitpoint_id', 'source_type',
      'source_identity', 'counted_for')
    local waitpoint, counted_for = f[2] and bound[f[2]], f[5]
    if not last and not counted_for and (waitpoint or not f[2]) then
      local signal = {
        id = id, name = f[1], waitpoint_key = waitpoint and (waitpoint.f.waitpoint_key or ''),
        source_type = f[3] or '', source_identity = f[4] or '',
      }
      local effect = suspending.count(waits, signal)
      counted_for = signal.counted_for
      if counted_for then
        server.call('HSET', key, 'observed_effect', effect, 'counted_for', counted_for)
        if waitpoint then suspending.add_counted(waitpoint) end
      end
      if effect == 'resume_condition_satisfied' then last = signal end
    end
    -- One at a waitpoint that is closed can never count.
    if not counted_for and (not f[2] or suspending.find(waits, f[2])) then
      server.call('RPUSH', keys.passed_over(x), id)
    end
  end
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

-- The id under which the execution stores a signal, and its effect if it has arrived before.
function signals.find(x, id)
  local own_id = id .. ':' .. x.id
  if execution.count(x, 'signal_count') > 0 then
    local scores = server.call('ZMSCORE', keys.signals(x), id, own_id)
    local stored_id = scores[1] and id or scores[2] and own_id
    if stored_id then
      return stored_id, server.call('HGET', keys.signal(x.tag, stored_id), 'observed_effect')
    end
  end
  return server.call('EXISTS', keys.signal(x.tag, id)) == 1 and own_id or id
end

-- The id as it was sent.
function signals.public_id(stored_id, execution_id)
  local suffix = ':' .. execution_id
  local is_own = string.sub(stored_id, -#suffix) == suffix
  return is_own and string.sub(stored_id, 1, -#suffix - 1) or stored_id
end

-- A signal that is known by its key, as the hash of keys has it: until when the key is remembered, effect and id,
-- joined by byte 31.
function signals.known_by(stored)
  if not stored then return nil end
  local until_then, effect, id = string.match(stored, '^(.-)\31(.-)\31(.*)$')
  return {until_then = tonumber(until_then), effect = effect, id = id}
end

-- The limit of the policy, if it allows fewer signals than the condition asks for.
function signals.too_few_allowed(x, condition)
  return x.f.max_signals and conditions.signals_needed(condition) > tonumber(x.f.max_signals)
    and x.f.max_signals
end

-- `otherwise`: without a limit in the policy.
function signals.is_full(x, otherwise)
  local max = tonumber(x.f.max_signals) or otherwise
  if max and execution.count(x, 'signal_count') >= max then
    return reply.refuse('signal_limit_exceeded', string.format('%.0f', max))
  end
end

return signals
