-- Ends an execution, or an attempt of it, whose time is over.
--   keys   core, attempt, stream meta, lease:current, lease:history, lease_expiry, worker leases, lane
--          active, lane terminal, attempt_timeout, execution_deadline, lane suspended, suspension_timeout,
--          suspension:current
--   args   execution_id, reason (attempt_timeout, execution_deadline, or any other)
--   reply  OK and: expired and the phase before; retry_scheduled and when, if an attempt timed out and the
--          policy retries; not_yet_due if the core has a later time; already_terminal; not_found_cleaned
local function clean(tag, id)
  server.call('ZREM', keys.index(tag, 'attempt_timeout'), id)
  server.call('ZREM', keys.index(tag, 'execution_deadline'), id)
end

-- Whether the caller acts on a time that has changed since.
local function is_stale(x, reason)
  local f = x.f
  if reason == 'execution_deadline' then return f.deadline and tonumber(f.deadline) > x.now end
  if reason ~= 'attempt_timeout' or not folded.index(f) then return false end
  return f.ownership_state ~= 'leased'
    or f.attempt_deadline_at and tonumber(f.attempt_deadline_at) > x.now
end

server.register_function('ff_expire_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local reason = arguments.given(ARGV[2]) or 'attempt_timeout'

  local tag, id = contract.identify(core_key, ARGV[1])
  if not tag then return id end
  local x = contract.find(core_key)
  if not x or x.f.lifecycle_phase == 'terminal' then
    clean(tag, id)
    return reply.ok(x and 'already_terminal' or 'not_found_cleaned')
  end
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
