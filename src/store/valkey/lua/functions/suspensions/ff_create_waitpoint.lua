-- Opens a waitpoint before the suspension that waits for it.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, id, key, expires_in_ms (empty: none), question
--   reply  OK event [id, fields], or DUPLICATE '' [id, fields] of the one that is open
commands.register('ff_create_waitpoint', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, lease_id, lease_epoch, attempt_id, id, key, expires_in_ms, question = unpack(ARGV)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
  if refused then return refused end
  local waits = suspending.load(x)
  local waitpoint, made = suspending.open(waits, {
    id = id, key = key, expires_in = tonumber(expires_in_ms), question = arguments.given(question),
  })
  if not waitpoint then return made end
  if not made then return {1, 'DUPLICATE', '', suspending.shown(waitpoint)} end

  suspending.save(waits)
  execution.save(x)
  return reply.ok(events.tell(x, 'waitpoint_opened', origin), suspending.shown(waitpoint))
end)
