-- Runs an ended execution once more. KEYS: 1 core, 2 lane terminal, 3 lane eligible, 4 lease:history.
-- ARGV: 1 execution_id, 2 now_ms (not looked at), and maybe 3 reason, 4 requested_by. Replies OK 0.
server.register_function('ff_replay_execution', function(KEYS, ARGV)
  local x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  if x.f.lifecycle_phase ~= 'terminal' then return reply.refuse('execution_not_terminal') end
  if execution.count(x, 'replay_count') >= policy.max_replays(x) then
    return reply.refuse('max_replays_exhausted')
  end
  replaying.start(x, arguments.given(ARGV[3]) or 'replayed', arguments.given(ARGV[4]) or 'operator')
  execution.put(x, {pending_replay_attempt = 1})
  contract.save(x, 'replayed')
  return reply.ok('0')
end)
