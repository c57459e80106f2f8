-- Removes an ended execution whose retention is over.
--   keys   core
--   args   now, origin
--   reply  OK event removed (1 or 0)
-- Safe to repeat.
commands.register('ff_remove', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin = ARGV[1], ARGV[2]

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  if x.f.lifecycle_phase ~= 'terminal' or placement.retained_until(x.f) > x.now then
    return reply.ok('', '0')
  end

  removal.remove(x)
  return reply.ok(events.tell(x, 'removed', origin), '1')  -- of what was loaded
end)
