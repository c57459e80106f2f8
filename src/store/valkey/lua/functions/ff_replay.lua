-- Runs an ended execution once more. KEYS: core. ARGV: now, origin, 3 reason, 4 requested_by. Replies OK
-- event state.
commands.register('ff_replay', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  if x.f.lifecycle_phase ~= 'terminal' then
    return reply.refuse('execution_not_terminal', x.f.public_state)
  end
  local max = policy.max_replays(x)
  if execution.count(x, 'replay_count') >= max then
    return reply.refuse('max_replays_exhausted', tostring(max))
  end
  replaying.start(x, ARGV[3], ARGV[4])
  execution.save(x)
  return reply.ok(events.tell(x, 'replayed', ARGV[2]), x.f.public_state)
end)
