-- Runs an ended execution once more.
--   keys   core
--   args   now, origin, reason, requested_by
--   reply  OK event state
-- Repeated with the same origin, it succeeds.
commands.register('ff_replay', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, reason, requested_by = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  if x.f.last_call == origin then return reply.ok('', x.f.public_state) end
  if x.f.lifecycle_phase ~= 'terminal' then
    return reply.refuse('execution_not_terminal', x.f.public_state)
  end
  local refused = flow_draft.check_replay(x)
  if refused then return refused end
  local max = policy.max_replays(x)
  if execution.count(x, 'replay_count') >= max then
    return reply.refuse('max_replays_exhausted', tostring(max))
  end

  replaying.start(x, reason, requested_by)
  execution.put(x, {last_call = origin})
  execution.save(x)
  return reply.ok(events.tell(x, 'replayed', origin), execution.reached(x))
end)
