-- Forgets an ended execution whose retention has run out. KEYS: core. ARGV: now, origin. Safe to repeat.
-- Replies OK event removed (1 or 0).
commands.register('ff_remove', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  if x.f.lifecycle_phase ~= 'terminal' or placement.retained_until(x.f) > x.now then
    return reply.ok('', '0')
  end
  local event = events.tell(x, 'removed', ARGV[2])
  removal.forget(x)
  return reply.ok(event, '1')
end)
