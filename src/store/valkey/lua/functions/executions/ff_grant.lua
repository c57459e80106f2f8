-- Sets a claimable execution aside for a worker.
--   keys   core
--   args   now, origin, worker, capabilities (CSV), grant_ttl_ms, admission (its quota's token),
--          admitted_until
--   reply  OK event grant_expires_at
-- Repeated with the same origin while the grant lasts, it replies as the first time.
commands.register('ff_grant', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, worker, capabilities, ttl_ms, admission, admitted_until = unpack(ARGV)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  if not execution.is_claimable(x) then
    local is_repeated = x.f.grant_expires_at and x.f.last_call == origin
    if is_repeated then return reply.ok('', tostring(x.f.grant_expires_at)) end
    if x.f.grant_expires_at then return reply.refuse('grant_already_exists') end
    return reply.refuse('execution_not_eligible', x.f.public_state)
  end
  local missing = leases.missing(x, capabilities)
  if missing then return reply.refuse('capability_mismatch', missing) end
  local refused = leases.check_admission(x, admission, admitted_until) or flows.check_start(x)
  if refused then return refused end

  grants.issue(x, {
    worker = worker, instance = worker, ttl = tonumber(ttl_ms), admission = admission,
  })
  execution.put(x, {last_call = origin})
  execution.save(x)
  return reply.ok(events.tell(x, 'granted', origin), tostring(x.f.grant_expires_at))
end)
