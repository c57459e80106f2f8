-- Fires the timer of an execution if it is due: ends a lease, a delay, a grant, an attempt, a
-- suspension, waitpoints or the execution; or the deadline of a flow.
--   keys   core; of a flow: as if its id were that of an execution
--   args   now, origin, kind
--   reply  OK event fired (1 or 0); if nothing of that kind was due, also the next timer and its time
-- Safe to repeat.
local fire = {}

function fire.lease_expiry(x)
  if execution.count(x, 'lease_reclaim_count') < policy.max_reclaims(x) then
    leases.lose(x, 'lease_expired_reclaimable')
    return 'lease_expired'
  end
  leases.lose(x, 'lease_expired_reclaimable')
  ending.give_up(x)
  return 'failed'
end

function fire.delay(x)
  execution.become_waiting(x)
  return 'promoted'
end

function fire.grant_expiry(x)
  server.call('DEL', keys.of_execution(x.tag, x.id, 'claim_grant'))
  execution.drop(x, 'grant_expires_at', 'granted_to')
  return 'promoted'
end

fire.attempt_timeout = ending.time_out

function fire.execution_deadline(x)
  ending.expire(x, 'execution_deadline')
  return 'expired'
end

fire.suspension_timeout = ending.time_out_suspension

function fire.waitpoint_expiry(x)
  local waits = suspending.load(x)
  suspending.expire_waitpoints(waits)
  suspending.save(waits)
  return 'waitpoint_closed'
end

local index_of = {
  lease_expiry = 'lease_expiry', delay = 'delays', attempt_timeout = 'attempt_timeout',
  execution_deadline = 'execution_deadline', grant_expiry = 'grants',
  suspension_timeout = 'suspension_timeout', waitpoint_expiry = 'waitpoint_expiry',
}

-- The deadline of a flow, or the end of the time in which it was to be sealed.
local function fire_of_flow(core_key, now, origin)
  local tag, id = keys.parse_core(core_key)
  local flow = flows.load(tag, string.sub(id, #tag + 2), now)
  if not flow then
    server.call('ZREM', keys.index(tag, 'flow_deadline'), id)
    return reply.ok('', '0', '', '')
  end
  if not flow.due or flow.due > now then
    return reply.ok('', '0', flow.due and 'flow_deadline' or '', tostring(flow.due or ''))
  end

  local draft = flow_draft.begin(flow)
  local is_unsealed = flow.f.public_flow_state == 'building'
  flows.put(flow, {
    reason = is_unsealed and 'not sealed in time' or 'flow_deadline', is_unsealed = is_unsealed and 1 or nil,
    public_flow_state = 'expired', walk = 0,
  })
  flow_draft.finish(draft, 'flow_expired')
  return reply.ok(events.tell_flow(draft, origin), '1')
end

commands.register('ff_fire_timer', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, wanted = ARGV[1], ARGV[2], ARGV[3]

  if wanted == 'flow_deadline' then return fire_of_flow(core_key, arguments.now(now), origin) end
  local x = execution.load(core_key, arguments.now(now))
  if not x then
    local tag, id = keys.parse_core(core_key)
    server.call('ZREM', keys.index(tag, index_of[wanted]), id)  -- a removed execution's entry has no other end
    return reply.refuse('execution_not_found')
  end
  local kind, due = timers.next(x.f)
  if kind ~= wanted or due > x.now then
    return reply.ok('', '0', kind or '', tostring(due or ''))
  end

  local what = fire[kind](x)
  execution.save(x)
  return reply.ok(events.tell(x, what, origin), '1')
end)
