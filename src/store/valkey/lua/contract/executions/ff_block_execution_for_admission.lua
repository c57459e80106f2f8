-- Keeps a ready execution from being claimed.
--   keys   core, lane eligible, lane blocked:…
--   args   execution_id, blocking_reason, blocking_detail, now_ms
--   reply  OK blocked
server.register_function('ff_block_execution_for_admission', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, reason, detail, now_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

  local _, refused = arguments.number('now_ms', now_ms)
  if refused then return refused end
  local x
  x, refused = contract.load(core_key, id)
  if not x then return refused end
  local f = x.f
  if f.lifecycle_phase == 'terminal' then return contract.not_active(x) end
  if f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_eligible') end
  if not blocking.is_reason(reason) then return reply.refuse('invalid_blocking_reason') end
  if f.blocking_reason == reason then return reply.ok('blocked') end
  if f.eligibility_state ~= 'eligible_now' then return reply.refuse('execution_not_eligible') end
  if grants.is_live(x) then return reply.refuse('grant_already_exists') end

  grants.remove(x)
  blocking.block(x, reason, detail)
  contract.save(x, 'blocked')
  return reply.ok('blocked')
end)
