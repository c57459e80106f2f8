-- Gives an execution back until signals, an operator or a timeout resume it.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, suspension_id, reason, timeout_ms (empty: none),
--          on_timeout, resume_delay_ms, is_possible (0: the condition can never be satisfied), condition (JSON,
--          lib/conditions.lua), state (for the handler), then of each waitpoint: id, key, expires_in_ms
--          (empty: none), question
--   reply  OK event state suspension_id satisfied (1: by signals that had arrived before; the lease goes on)
--          timeout_at, then of each waitpoint: [id, fields]
-- Repeated under the same lease with the same suspension id, it replies as the first time.
local first_waitpoint, parts_of_waitpoint = 14, 4

local function suspended_before(waits, suspension_id, lease_id, lease_epoch)
  local suspension = waits.suspension
  -- A lease id can be given again, an epoch cannot.
  return suspension and suspension.suspension_id == suspension_id and suspension.lease_id == lease_id
    and suspension.lease_epoch == lease_epoch
end

local function answer(waits, event)
  local suspension = waits.suspension
  local told = reply.ok(event, waits.x.f.public_state, suspension.suspension_id,
    suspension.satisfied_at_once and '1' or '0', suspension.timeout_at or '')
  for _, waitpoint in ipairs(suspending.bound(waits)) do told[#told + 1] = suspending.shown(waitpoint) end
  return told
end

-- The waitpoints that it binds, or nil and the refusal.
local function open_all(waits, ARGV)
  local bound = {}
  for i = first_waitpoint, #ARGV, parts_of_waitpoint do
    local waitpoint, refused = suspending.open(waits, {
      id = ARGV[i], key = ARGV[i + 1], expires_in = tonumber(ARGV[i + 2]),
      question = arguments.given(ARGV[i + 3]),
    })
    if not waitpoint then return nil, refused end
    bound[#bound + 1] = waitpoint
  end
  return bound
end

commands.register('ff_suspend', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, lease_id, lease_epoch, attempt_id, suspension_id, reason, timeout_ms, on_timeout,
    resume_delay_ms, is_possible, condition, state = unpack(ARGV, 1, first_waitpoint - 1)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local waits = suspending.load(x)
  if suspended_before(waits, suspension_id, lease_id, lease_epoch) then return answer(waits, '') end
  local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
  if refused then return refused end
  suspending.drop_closed(waits)
  local bound
  bound, refused = open_all(waits, ARGV)
  if not bound then return refused end
  if is_possible ~= '1' then return reply.refuse('invalid_condition') end
  local allowed = signals.too_few_allowed(x, cjson.decode(condition))
  if allowed then return reply.refuse('invalid_condition', allowed) end

  suspending.start(waits, {
    suspension_id = suspension_id, lease_id = lease_id, lease_epoch = lease_epoch,
    attempt_index = folded.index(x.f),
    reason_code = reason, condition = condition, timeout_behavior = on_timeout,
    timeout_at = timeout_ms ~= '' and string.format('%.0f', x.now + timeout_ms) or nil,
    resume_delay_ms = resume_delay_ms ~= '0' and resume_delay_ms or nil,
  }, bound, state)
  local last = signals.count_earlier(waits)
  if last then
    suspending.satisfy_at_once(waits, last)
  else
    suspending.suspend(waits)
  end
  suspending.save(waits)
  execution.save(x)
  return answer(waits, events.tell(x, last and 'resumed' or 'suspended', origin))
end)
