-- Keeps a ready execution from being claimed. KEYS: 1 core, 2 lane eligible, 3 lane blocked:… ARGV:
-- 1 execution_id, 2 blocking_reason, 3 blocking_detail, 4 now_ms. Replies OK blocked.
local eligibility = {
  waiting_for_budget = 'blocked_by_budget',
  waiting_for_quota = 'blocked_by_quota',
  waiting_for_capable_worker = 'blocked_by_route',
  paused_by_operator = 'blocked_by_operator',
  paused_by_policy = 'blocked_by_lane_state',
}
local rate_limited = {waiting_for_budget = true, waiting_for_quota = true}

server.register_function('ff_block_execution_for_admission', function(KEYS, ARGV)
  local _, refused = arguments.number('now_ms', ARGV[4])
  if refused then return refused end
  local x
  x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  local f, reason = x.f, ARGV[2]
  if f.lifecycle_phase == 'terminal' then return contract.not_active(x) end
  if f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_eligible') end
  if not eligibility[reason] then return reply.refuse('invalid_blocking_reason') end
  if f.blocking_reason == reason then return reply.ok('blocked') end
  if f.eligibility_state ~= 'eligible_now' then return reply.refuse('execution_not_eligible') end
  if grants.is_live(x) then return reply.refuse('grant_already_exists') end

  execution.become_blocked(x, eligibility[reason], reason,
    rate_limited[reason] and 'rate_limited' or 'waiting')
  execution.put_text(x, 'blocking_detail', ARGV[3])
  contract.save(x, 'delayed')
  return reply.ok('blocked')
end)
