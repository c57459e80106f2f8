-- Saying of an execution what it waits for beside a worker's turn. It is a label: who has what it needs
-- may have it; only what is paused nobody may have.
local blocking = {}

local eligibility_of = {
  waiting_for_budget = 'blocked_by_budget',
  waiting_for_quota = 'blocked_by_quota',
  waiting_for_capable_worker = 'blocked_by_route',
  paused_by_operator = 'blocked_by_operator',
  paused_by_policy = 'blocked_by_lane_state',
}
local rate_limited = {waiting_for_budget = true, waiting_for_quota = true}

local is_blocked = {
  blocked_by_budget = true, blocked_by_quota = true, blocked_by_route = true,
  blocked_by_operator = true, blocked_by_lane_state = true,
}

function blocking.is_reason(reason)
  return eligibility_of[reason] ~= nil
end

function blocking.is_pause(reason)
  return reason == 'paused_by_operator' or reason == 'paused_by_policy' or reason == 'paused_by_flow_cancel'
end

function blocking.is_blocked(x)
  return x.f.lifecycle_phase == 'runnable' and is_blocked[x.f.eligibility_state] == true
end

-- An execution that is already blocked keeps the time when it was first blocked.
function blocking.block(x, reason, detail)
  local since = blocking.is_blocked(x) and x.f.last_transition_at
  execution.become_blocked(x, eligibility_of[reason], reason,
    rate_limited[reason] and 'rate_limited' or 'waiting')
  if since then execution.put(x, {last_transition_at = since}) end
  execution.put_text(x, 'blocking_detail', detail)
end

return blocking
