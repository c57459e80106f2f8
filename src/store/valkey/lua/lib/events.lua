-- What the world is told of a change. Other processes hear it on the partition's channel; the caller
-- finds it in its reply.
local events = {}

-- Of `x` as it is after the change. The parts about budgets and quotas are there only if there is
-- something to say. `origin` is who made it, so that it can pass over the echo.
function events.tell(x, what, origin)
  local f = x.f
  local timer, due = timers.next(f)
  -- What is granted is offered again when its timer has ended the grant.
  local offered = execution.is_claimable(x) and not f.grant_expires_at
  local event = table.concat({
    origin or '', what, x.at, x.id, f.namespace, f.lane_id, f.execution_kind, f.public_state,
    f.total_attempt_count or 0, offered and 1 or 0, f.priority or 0,
    f.queued_at or f.created_at, f.required_capabilities or '', timer or '', due or '',
  }, '\31')
  local blocked = offered and blocking.is_blocked(x)
  if blocked or f.budget_ids or f.quota_policy_id then
    event = table.concat({
      event, f.budget_ids or '', f.quota_policy_id or '', x.freed or '', blocked and 1 or 0,
    }, '\31')
  end
  call('SPUBLISH', keys.events(x.tag), event)
  return event
end
