-- Keeps a ready execution from being claimed. KEYS: 1 core, 2 lane eligible, 3 lane blocked:… ARGV:
-- 1 execution_id, 2 blocking_reason, 3 blocking_detail, 4 now_ms. Replies OK blocked.
server.register_function('ff_block_execution_for_admission', function(KEYS, ARGV)
  local _, refused = arguments.number('now_ms', ARGV[4])
  if refused then return refused end
  local x
  x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  local f, reason = x.f, ARGV[2]
  if f.lifecycle_phase == 'terminal' then return contract.not_active(x) end
  if f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_eligible') end
  if not blocking.is_reason(reason) then return reply.refuse('invalid_blocking_reason') end
  if f.blocking_reason == reason then return reply.ok('blocked') end
  if f.eligibility_state ~= 'eligible_now' then return reply.refuse('execution_not_eligible') end
  if grants.is_live(x) then return reply.refuse('grant_already_exists') end

  grants.remove(x)
  blocking.block(x, reason, ARGV[3])
  contract.save(x, 'blocked')
  return reply.ok('blocked')
end)
