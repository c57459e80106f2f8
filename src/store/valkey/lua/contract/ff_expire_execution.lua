-- Ends an execution, or an attempt of it, whose time is over. KEYS: 1 core, 2 attempt, 3 stream meta,
-- 4 lease:current, 5 lease:history, 6 lease_expiry, 7 worker leases, 8 lane active, 9 lane terminal,
-- 10 attempt_timeout, 11 execution_deadline, 12 lane suspended, 13 suspension_timeout,
-- 14 suspension:current. ARGV: 1 execution_id, 2 reason (attempt_timeout, execution_deadline, or any).
-- Replies OK and: expired and the phase before; retry_scheduled and when, where an attempt's time is
-- over and the policy retries; not_yet_due where the core knows of a later time; already_terminal;
-- not_found_cleaned.
local function clean(tag, id)
  call('ZREM', keys.index(tag, 'attempt_timeout'), id)
  call('ZREM', keys.index(tag, 'execution_deadline'), id)
end

-- Whether whoever calls has looked at a time that counts no more.
local function is_stale(x, reason)
  local f = x.f
  if reason == 'execution_deadline' then return f.deadline and tonumber(f.deadline) > x.now end
  if reason ~= 'attempt_timeout' or not f.current_attempt_index then return false end
  return f.ownership_state ~= 'leased'
    or f.attempt_deadline_at and tonumber(f.attempt_deadline_at) > x.now
end

server.register_function('ff_expire_execution', function(KEYS, ARGV)
  local tag, id = contract.identify(KEYS[1], ARGV[1])
  if not tag then return id end
  local x = contract.find(KEYS[1])
  if not x or x.f.lifecycle_phase == 'terminal' then
    clean(tag, id)
    return reply.ok(x and 'already_terminal' or 'not_found_cleaned')
  end
  local reason = arguments.given(ARGV[2]) or 'attempt_timeout'
  if is_stale(x, reason) then return reply.ok('not_yet_due') end

  local phase, what = x.f.lifecycle_phase, 'expired'
  if reason == 'attempt_timeout' and phase == 'active' then
    what = ending.time_out(x)
  else
    ending.expire(x, reason)
  end
  contract.save(x, what)
  if what == 'expired' then return reply.ok('expired', phase) end
  return reply.ok(what, tostring(x.f.delay_until or x.now))
end)
