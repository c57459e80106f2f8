-- Resumes a suspended execution, whatever its condition.
--   keys   core
--   args   now, origin, reason, delay_ms
--   reply  OK event state
-- Repeated with the same origin, it succeeds.
commands.register('ff_resume', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, reason, delay_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  if x.f.last_call == origin then return reply.ok('', x.f.public_state) end
  if x.f.lifecycle_phase ~= 'suspended' then
    return reply.refuse('execution_not_suspended', x.f.public_state)
  end

  local waits = suspending.load(x)
  suspending.resume(waits, 'operator', 'resumed', tonumber(delay_ms), nil, reason)
  suspending.save(waits)
  execution.put(x, {last_call = origin})
  execution.save(x)
  return reply.ok(events.tell(x, 'resumed', origin), execution.reached(x))
end)
