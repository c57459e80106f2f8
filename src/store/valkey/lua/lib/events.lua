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
  local event = (origin or '') .. '\31' .. what .. '\31' .. x.at .. '\31' .. x.id .. '\31' .. f.namespace
    .. '\31' .. f.lane_id .. '\31' .. f.execution_kind .. '\31' .. f.public_state .. '\31'
    .. (f.total_attempt_count or '0') .. (offered and '\0311\31' or '\0310\31')
    .. (offered and f.priority or '0') .. '\31' .. (offered and (f.queued_at or f.created_at) or '0') .. '\31' .. (f.required_capabilities or '') .. '\31' .. (timer or '') .. '\31'
    .. (due or '')
  local blocked = offered and blocking.is_blocked(x)
  -- Older programs take only 15 or 19 parts, and do not read the last one.
  local last = (blocked and '1 ' or '0 ') .. (f.v or '0')
  if f.flow_id then last = last .. '\31' .. f.flow_id end
  if offered and f.fairness then last = last .. (f.flow_id and '\31' or '\31\31') .. f.fairness end
  if not (blocked or f.budget_ids or f.quota_policy_id) then
    return event .. '\31\31\31\31' .. last
  end
  return table.concat({
    event, f.budget_ids or '', f.quota_policy_id or '', x.freed or '', last,
  }, '\31')
end

-- A flow's state in the words of executions.
local state_of_flow = {building = 'waiting', paused = 'waiting', running = 'active', open = 'active'}

-- The event of a flow as it is after the change: as that of an execution without a lane.
local function event_of_flow(flow, what, origin)
  local f = flow.f
  return table.concat({
    origin or '', what, flow.at, flow.subject, f.namespace or '', '', f.flow_kind or '',
    state_of_flow[f.public_flow_state] or f.public_flow_state, 0, 0, 0, f.created_at or 0, '',
    flow.due and 'flow_deadline' or '', flow.due or '', '', '', '', '0 ' .. (f.v or 0), flow.id,
  }, '\31')
end

-- Work that is left for further calls, for the program that is to do it.
local function effects_of(draft, origin)
  return table.concat({
    origin or '', 'effects', draft.flow.at, draft.flow.subject, table.concat(draft.effects, '\30'),
  }, '\31')
end

-- The events of a change of a flow and its nodes (lib/flow_draft.lua), but for that of the execution `known`.
local function add_events_of(draft, origin, texts, known)
  for _, x in ipairs(draft.order) do
    if x ~= known and x.event then texts[#texts + 1] = event_of(x, x.event, origin) end
  end
  if draft.event then texts[#texts + 1] = event_of_flow(draft.flow, draft.event, origin) end
  if #draft.effects > 0 then texts[#texts + 1] = effects_of(draft, origin) end
end

-- Its end, to those who follow its flow.
local function publish_end(x)
  if not x.flow_outcome then return end
  publish('PUBLISH', 'ff:dag:completions', cjson.encode({
    execution_id = x.id, flow_id = x.f.flow_id, outcome = x.flow_outcome,
  }))
end

-- From here to the end of the call changes are told together: `gathered` has their texts.
function events.gather()
  gathered = {}
end

-- Publishes what was gathered, on the channel of one of the partitions: a process listens to all of them.
function events.tell_gathered(tag)
  local event = table.concat(gathered, '\29')
  gathered = nil
  if event ~= '' then publish('SPUBLISH', keys.events(tag), event) end
end

-- Publishes a change whose text is known. Returns it, for the reply.
function events.tell_text(tag, event)
  if gathered then
    gathered[#gathered + 1] = event
    return event
  end
  publish('SPUBLISH', keys.events(tag), event)
  return event
end

local function publish_changes(tag, texts)
  local event = table.concat(texts, '\29')
  return event ~= '' and events.tell_text(tag, event) or event
end

-- Publishes a change of an execution, and what followed from it in its flow. Returns the events, for the reply.
function events.tell(x, what, origin)
  local texts = {event_of(x, x.event or what, origin)}
  local draft = x.draft
  if draft then add_events_of(draft, origin, texts, x) end
  local event = publish_changes(x.tag, texts)
  publish_end(x)
  if draft then
    for _, other in ipairs(draft.order) do
      if other ~= x then publish_end(other) end
    end
  end
  return event
end

-- Publishes a change of a flow and its nodes.
function events.tell_flow(draft, origin)
  local texts = {}
  add_events_of(draft, origin, texts)
  local event = publish_changes(draft.flow.tag, texts)
  for _, x in ipairs(draft.order) do publish_end(x) end
  return event
end

-- Publishes that a budget or a quota (`kind`) may have room for work that waits for it.
function events.tell_opening(kind, tag, namespace, id)
  publish('SPUBLISH', keys.events(tag), table.concat({kind, namespace, id}, '\31'))
end

-- Publishes that a stream of an execution has new frames.
function events.tell_frames(tag, id)
  publish('SPUBLISH', keys.events(tag), 'frames\31' .. id)
end

return events
