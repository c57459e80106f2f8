-- Events: how other processes learn of a change. They are published last, when everything is written, and a
-- publish that fails (the user may lack the right) fails nothing: events are not kept, so every listener must
-- also find changes in the indexes.
local events = {}

local function publish(command, channel, message)
  server.pcall(command, channel, message)
end

-- The event of `x` as it is after the change; `origin` is the program that made it, which ignores its own
-- events. The parts about budgets and quotas are empty where there is nothing to say.
local function event_of(x, what, origin)
  local f = x.f
  local timer, due = timers.next(f)
  -- A granted execution is offered again when its timer has ended the grant.
  local offered = execution.is_claimable(x) and not f.grant_expires_at
  local event = table.concat({
    origin or '', what, x.at, x.id, f.namespace, f.lane_id, f.execution_kind, f.public_state,
    f.total_attempt_count or 0, offered and 1 or 0, f.priority or 0,
    f.queued_at or f.created_at, f.required_capabilities or '', timer or '', due or '',
  }, '\31')
  local blocked = offered and blocking.is_blocked(x)
  -- Older programs take only 15 or 19 parts, and do not read the last one.
  local last = (blocked and '1 ' or '0 ') .. (f.v or 0)
  if not (blocked or f.budget_ids or f.quota_policy_id) then
    return event .. '\31\31\31\31' .. last
  end
  return table.concat({
    event, f.budget_ids or '', f.quota_policy_id or '', x.freed or '', last,
  }, '\31')
end

-- Publishes a change of an execution, and its end to those who follow its flow. Returns the event, for the
-- reply.
function events.tell(x, what, origin)
  local event = event_of(x, what, origin)
  publish('SPUBLISH', keys.events(x.tag), event)
  if x.flow_outcome then
    publish('PUBLISH', 'ff:dag:completions', cjson.encode({
      execution_id = x.id, flow_id = x.f.flow_id, outcome = x.flow_outcome,
    }))
  end
  return event
end

-- Publishes that a budget or a quota (`kind`) may have room for work that waits for it.
function events.tell_opening(kind, tag, namespace, id)
  publish('SPUBLISH', keys.events(tag), table.concat({kind, namespace, id}, '\31'))
end

return events
