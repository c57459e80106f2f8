-- Timers of executions. An execution has at most one timer: the earliest.
local timers = {}

local function earlier(kind, due, other_kind, other_due)
  if not other_due or (due and due <= other_due) then return kind, due end
  return other_kind, other_due
end

-- Kind and time of what comes due next in an execution with these core fields; nil if nothing does.
-- At one instant the deadline wins: what happens then is final.
function timers.next(f)
  if f.lifecycle_phase == 'terminal' then return nil end
  local kind, due
  if f.deadline then kind, due = 'execution_deadline', tonumber(f.deadline) end
  kind, due = earlier(kind, due, 'waitpoint_expiry', tonumber(f.waitpoint_expiry))
  if f.ownership_state == 'leased' then
    kind, due = earlier(kind, due, 'attempt_timeout', tonumber(f.attempt_deadline_at))
    return earlier(kind, due, 'lease_expiry', tonumber(f.lease_expires_at))
  elseif f.lifecycle_phase == 'suspended' then
    return earlier(kind, due, 'suspension_timeout', tonumber(f.suspension_timeout_at))
  elseif f.eligibility_state == 'not_eligible_until_time' then
    return earlier(kind, due, 'delay', tonumber(f.delay_until))
  elseif f.grant_expires_at then
    return earlier(kind, due, 'grant_expiry', tonumber(f.grant_expires_at))
  end
  return kind, due
end

return timers
