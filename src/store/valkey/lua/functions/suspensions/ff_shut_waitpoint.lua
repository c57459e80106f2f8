-- Closes an open waitpoint: its tokens are useless from then on.
--   keys   core
--   args   now, origin, waitpoint_id, reason
--   reply  OK event closed (1; 0: it was closed already)
-- Repeated with the same origin, it replies as the first time.
commands.register('ff_shut_waitpoint', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, waitpoint_id, reason = ARGV[1], ARGV[2], ARGV[3], arguments.given(ARGV[4])

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local waits = suspending.load(x)
  local waitpoint = suspending.find(waits, waitpoint_id)
  if not waitpoint then return reply.refuse('waitpoint_not_found') end
  if x.f.last_call == origin then return reply.ok('', '1') end
  if waitpoint.f.state == 'closed' or x.f.lifecycle_phase == 'terminal' then return reply.ok('', '0') end

  suspending.close_one(waits, waitpoint, reason or 'proactive_close')
  suspending.save(waits)
  execution.put(x, {last_call = origin})
  execution.save(x)
  return reply.ok(events.tell(x, 'waitpoint_closed', origin), '1')
end)
