-- Runs an ended execution once more.
--   keys   core, lane terminal, lane eligible, lease:history
--   args   execution_id, now_ms (not used), optionally reason, requested_by
--   reply  OK 0
server.register_function('ff_replay_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, reason, requested_by = ARGV[1], arguments.given(ARGV[3]), arguments.given(ARGV[4])

  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  if x.f.lifecycle_phase ~= 'terminal' then return reply.refuse('execution_not_terminal') end
  if execution.count(x, 'replay_count') >= policy.max_replays(x) then
    return reply.refuse('max_replays_exhausted')
  end

  replaying.start(x, reason or 'replayed', requested_by or 'operator')
  execution.put(x, {pending_replay_attempt = 1})
  contract.save(x, 'replayed')
  return reply.ok('0')
end)
