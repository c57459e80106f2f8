-- Does what is due: ends a lease, a delay, a grant, an attempt or the execution. KEYS: core. ARGV: now,
-- origin, 3 kind. Safe to repeat. Replies OK event fired (1 or 0) timer due: what comes next if nothing
-- of that kind was due.
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
  call('DEL', keys.of_execution(x.tag, x.id, 'claim_grant'))
  execution.drop(x, 'grant_expires_at', 'granted_to')
  return 'promoted'
end

fire.attempt_timeout = ending.time_out

function fire.execution_deadline(x)
  ending.expire(x, 'execution_deadline')
  return 'expired'
end

local index_of = {
  lease_expiry = 'lease_expiry', delay = 'delays', attempt_timeout = 'attempt_timeout',
  execution_deadline = 'execution_deadline', grant_expiry = 'grants',
}

commands.register('ff_fire_timer', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then
    local tag, id = keys.parse_core(KEYS[1])
    call('ZREM', keys.index(tag, index_of[ARGV[3]]), id)  -- nobody else would
    return reply.refuse('execution_not_found')
  end
  local kind, due = timers.next(x.f)
  if kind ~= ARGV[3] or due > x.now then
    return reply.ok('', '0', kind or '', tostring(due or ''))
  end
  local what = fire[kind](x)
  execution.save(x)
  return reply.ok(events.tell(x, what, ARGV[2]), '1')
end)
