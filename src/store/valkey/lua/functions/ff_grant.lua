-- Sets a ready execution aside for a worker. KEYS: core. ARGV: now, origin, 3 worker, 4 capabilities
-- (CSV), 5 grant_ttl_ms, 6 admission by its quota, 7 until when that is valid. Replies OK event
-- grant_expires_at.
commands.register('ff_grant', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  if not execution.is_claimable(x) then
    if x.f.grant_expires_at then return reply.refuse('grant_already_exists') end
    return reply.refuse('execution_not_eligible', x.f.public_state)
  end
  local missing = leases.missing(x, ARGV[4])
  if missing then return reply.refuse('capability_mismatch', missing) end
  local refused = leases.check_admission(x, ARGV[6], ARGV[7])
  if refused then return refused end

  grants.issue(x, {
    worker = ARGV[3], instance = ARGV[3], ttl = tonumber(ARGV[5]), admission = ARGV[6],
  })
  execution.save(x)
  return reply.ok(events.tell(x, 'granted', ARGV[2]), tostring(x.f.grant_expires_at))
end)
