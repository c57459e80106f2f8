-- Which indexes an execution stands in, and at which score, as its core fields say. Whoever changes
-- an execution compares this before and after; nobody moves entries by hand.
local placement = {}

local hour = 3600000
local retention_default = 24 * hour

-- Lowest first: a higher priority beats any age, then the older beats the newer.
function placement.ready_score(f)
  return (f.queued_at or f.created_at) - f.priority * 1000000000000
end

function placement.queue(f)
  return f.queue or f.lane_id
end

-- How long its idempotency key is remembered.
function placement.remembered_until(f)
  if not f.idempotency_key then return f.created_at + 0 end
  return f.created_at + (f.dedup_ms or 24 * hour)
end

-- An ended execution is kept until then; never shorter than its idempotency key is remembered.
function placement.retained_until(f)
  return math.max(f.completed_at + (f.retention_ms or retention_default),
    placement.remembered_until(f))
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

local function runnable_score(f)
  if f.eligibility_state == 'eligible_now' then return placement.ready_score(f) end
  if f.eligibility_state == 'not_eligible_until_time' then return tonumber(f.delay_until) end
  if f.eligibility_state == 'blocked_by_dependencies' then return tonumber(f.created_at) end
  return tonumber(f.last_transition_at)
end

-- Key → score of every sorted set that an execution with these fields stands in.
function placement.of(tag, f)
  local places = {}
  local queue = placement.queue(f)
  local phase = f.lifecycle_phase
  if phase == 'terminal' then
    places[keys.lane_index(tag, queue, 'terminal')] = tonumber(f.completed_at)
    places[keys.index(tag, 'retention')] = placement.retained_until(f)
    return places
  end
  if phase == 'runnable' then
    places[keys.lane_index(tag, queue, runnable_index[f.eligibility_state])] = runnable_score(f)
    if f.eligibility_state == 'not_eligible_until_time' then
      places[keys.index(tag, 'delays')] = tonumber(f.delay_until)
    end
  elseif phase == 'active' then
    places[keys.lane_index(tag, queue, 'active')] = tonumber(f.lease_expires_at)
    if f.ownership_state == 'leased' then
      places[keys.index(tag, 'lease_expiry')] = tonumber(f.lease_expires_at)
      if f.attempt_deadline_at then
        places[keys.index(tag, 'attempt_timeout')] = tonumber(f.attempt_deadline_at)
      end
    else
      places[keys.lane_index(tag, queue, 'reclaimable')] = placement.ready_score(f)
    end
  end
  if f.grant_expires_at then
    places[keys.index(tag, 'grants')] = tonumber(f.grant_expires_at)
  end
  if f.deadline then
    places[keys.index(tag, 'execution_deadline')] = tonumber(f.deadline)
  end
  return places
end

-- The worker whose set of leases it stands in.
function placement.holder(f)
  if f.lifecycle_phase == 'active' and f.ownership_state == 'leased' then
    return f.current_worker_instance_id or f.current_worker_id
  end
end

function placement.move(tag, id, before, after)
  for key in pairs(before) do
    if not after[key] then call('ZREM', key, id) end
  end
  for key, score in pairs(after) do
    if before[key] ~= score then call('ZADD', key, score, id) end
  end
end
