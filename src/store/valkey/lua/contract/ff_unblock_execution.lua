-- Lets an execution that was blocked be claimed. KEYS: 1 core, 2 lane blocked:…, 3 lane eligible. ARGV:
-- 1 execution_id, 2 now_ms, 3 expected_blocking_reason (empty: whichever). Replies OK unblocked.
server.register_function('ff_unblock_execution', function(KEYS, ARGV)
  local _, refused = arguments.number('now_ms', ARGV[2])
  if refused then return refused end
  local x
  x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  local f, expected = x.f, arguments.given(ARGV[3])
  if not blocking.is_blocked(x) or expected and expected ~= f.blocking_reason then
    return reply.refuse('execution_not_eligible')
  end

  execution.become_waiting(x)
  contract.save(x, 'unblocked')
  return reply.ok('unblocked')
end)
