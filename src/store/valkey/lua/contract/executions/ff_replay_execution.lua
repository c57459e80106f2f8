-- Runs an ended execution once more. One that was skipped waits again for the executions before it.
--   keys   core, lane terminal, lane eligible, lease:history; of a skipped node also lane
--          blocked:dependencies, deps:meta, deps:unresolved and its deps
--   args   execution_id, now_ms (not used), then of a skipped node its edges (not used: it knows them), of
--          another one optionally reason, requested_by
--   reply  OK and how many executions it waits for
server.register_function('ff_replay_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, reason, requested_by = ARGV[1], arguments.given(ARGV[3]), arguments.given(ARGV[4])

  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  if x.f.lifecycle_phase ~= 'terminal' then return reply.refuse('execution_not_terminal') end
  if execution.count(x, 'replay_count') >= policy.max_replays(x) then
    return reply.refuse('max_replays_exhausted')
  end
  local was_skipped = x.f.terminal_outcome == 'skipped' and x.f.flow_id
  if was_skipped then reason, requested_by = nil, nil end

  replaying.start(x, reason or 'replayed', requested_by or 'operator')
  execution.put(x, {pending_replay_attempt = 1})
  local open = was_skipped and contract_edges.reopen(x) or 0
  contract.save(x, 'replayed')
  return reply.ok(tostring(open))
end)
