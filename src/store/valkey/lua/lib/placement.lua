-- Which indexes an execution stands in, and at which score, as its core fields say. Whoever changes
-- an execution compares this before and after; nobody moves entries by hand.
local placement = {}

local day = 24 * 3600000
local never = 9999999999999  -- the score of a suspension without a timeout, and of what has no end of its own

placement.never = never

-- How long an ended execution is kept if nothing else is said.
placement.retention_default = day

-- Lowest first: a higher priority beats any age, then the older beats the newer.
function placement.ready_score(f)
  return (f.queued_at or f.created_at) - (f.priority or 0) * 1000000000000
end

function placement.queue(f)
  return f.queue or f.lane_id
end

-- How long its idempotency key is remembered.
function placement.remembered_until(f)
  if not f.idempotency_key then return f.created_at + 0 end
  return f.created_at + (f.dedup_ms or day)
end

-- An ended execution is kept until then; never shorter than its idempotency key is remembered.
-- A node goes with its flow.
function placement.retained_until(f)
  if f.node_index then return never end
  local until_then = f.completed_at + (f.retention_ms or day)
  if not f.idempotency_key then return until_then end
  return math.max(until_then, placement.remembered_until(f))
end

local runnable_index = {
  eligible_now = 'eligible',
  not_eligible_until_time = 'delayed',
  blocked_by_dependencies = 'blocked:dependencies',
  blocked_by_budget = 'blocked:budget',
  blocked_by_quota = 'blocked:quota',
  blocked_by_route = 'blocked:route',
  blocked_by_operator = 'blocked:operator',
  blocked_by_lane_state = 'blocked:operator',
}

-- By the reason why an execution is blocked.
placement.blocked_index = {
  waiting_for_children = 'blocked:dependencies',
  waiting_for_budget = 'blocked:budget',
  waiting_for_quota = 'blocked:quota',
  waiting_for_capable_worker = 'blocked:route',
  paused_by_operator = 'blocked:operator',
  paused_by_policy = 'blocked:operator',
}

local function runnable_score(f)
  if f.eligibility_state == 'eligible_now' then return placement.ready_score(f) end
  if f.eligibility_state == 'not_eligible_until_time' then return tonumber(f.delay_until) end
  if f.eligibility_state == 'blocked_by_dependencies' then return tonumber(f.created_at) end
  return tonumber(f.last_transition_at or f.created_at)
end

-- `lane` is its index of the lane and `score` its score there; `needs` is what it is counted under while it
-- waits; the others are scores in the indexes of those names: `reclaimable` of the lane, the rest of the
-- partition.
function placement.of(f)
  local phase = f.lifecycle_phase
  if phase == 'terminal' then
    -- The end, for those that are kept as long as is usual: in the order in which they may be forgotten.
    return {lane = 'terminal', score = placement.retained_until(f) - day}
  end
  local places
  if phase == 'runnable' then
    places = {lane = runnable_index[f.eligibility_state], score = runnable_score(f)}
    if places.lane == 'eligible' then
      places.needs = waiting.needs(f)
    elseif places.lane == 'delayed' then
      places.delays = places.score
    end
  elseif phase == 'active' then
    local expires_at = tonumber(f.lease_expires_at)
    places = folded.is(f) and {} or {lane = 'active', score = expires_at}
    if f.ownership_state == 'leased' then
      places.lease_expiry = expires_at
      if f.attempt_deadline_at then places.attempt_timeout = tonumber(f.attempt_deadline_at) end
    else
      places.reclaimable = placement.ready_score(f)
    end
  elseif phase == 'suspended' then
    local timeout_at = tonumber(f.suspension_timeout_at)
    places = {lane = 'suspended', score = timeout_at or never, suspension_timeout = timeout_at}
  else
    places = {}
  end
  if f.waitpoint_expiry then places.waitpoint_expiry = tonumber(f.waitpoint_expiry) end
  if f.grant_expires_at then places.grants = tonumber(f.grant_expires_at) end
  if f.deadline then places.execution_deadline = tonumber(f.deadline) end
  return places
end

-- The instance of a worker whose set of leases it stands in. Our own engine's workers have none.
function placement.holder(f)
  if f.current_worker_instance_id and f.ownership_state == 'leased' then
    return f.current_worker_instance_id
  end
end

local of_partition = {
  'lease_expiry', 'attempt_timeout', 'execution_deadline', 'delays', 'grants',
  'suspension_timeout', 'waitpoint_expiry',
}

local function put(key, id, before, after)
  if before == after then return end
  if after then
    server.call('ZADD', key, after, id)
  else
    server.call('ZREM', key, id)
  end
end

-- `before` and `after` are what placement.of said then and says now.
function placement.move(tag, queue, id, before, after)
  if before.lane ~= after.lane then
    if before.lane then server.call('ZREM', keys.lane_index(tag, queue, before.lane), id) end
    if after.lane then server.call('ZADD', keys.lane_index(tag, queue, after.lane), after.score, id) end
  elseif before.score ~= after.score then
    server.call('ZADD', keys.lane_index(tag, queue, after.lane), after.score, id)
  end
  if before.reclaimable ~= after.reclaimable then
    put(keys.lane_index(tag, queue, 'reclaimable'), id, before.reclaimable, after.reclaimable)
  end
  for i = 1, #of_partition do
    local name = of_partition[i]
    if before[name] ~= after[name] then put(keys.index(tag, name), id, before[name], after[name]) end
  end
  if before.needs ~= after.needs then waiting.move(tag, queue, before.needs, after.needs) end
end

-- Calls visit(key, score) for each sorted set that it stands in.
function placement.each(tag, queue, places, visit)
  if places.lane then visit(keys.lane_index(tag, queue, places.lane), places.score) end
  if places.reclaimable then
    visit(keys.lane_index(tag, queue, 'reclaimable'), places.reclaimable)
  end
  for _, name in ipairs(of_partition) do
    if places[name] then visit(keys.index(tag, name), places[name]) end
  end
end

return placement
