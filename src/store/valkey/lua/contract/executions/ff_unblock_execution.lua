-- Lets a blocked execution be claimed.
--   keys   core, lane blocked:…, lane eligible
--   args   execution_id, now_ms, expected_blocking_reason (empty: any)
--   reply  OK unblocked
server.register_function('ff_unblock_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, now_ms, expected = ARGV[1], ARGV[2], arguments.given(ARGV[3])

  local _, refused = arguments.number('now_ms', now_ms)
  if refused then return refused end
  local x
  x, refused = contract.load(core_key, id)
  if not x then return refused end
  if not blocking.is_blocked(x) or expected and expected ~= x.f.blocking_reason then
    return reply.refuse('execution_not_eligible')
  end

  execution.become_waiting(x)
  contract.save(x, 'unblocked')
  return reply.ok('unblocked')
end)
