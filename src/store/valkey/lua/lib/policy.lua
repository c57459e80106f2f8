-- The stored policy, read only where something goes wrong.
local policy = {}

-- Decodes a JSON object or list; nil if the text is neither.
function policy.decode(text)
  local fine, decoded = pcall(cjson.decode, text)
  return fine and type(decoded) == 'table' and decoded or nil
end

-- A table, empty if none was given.
function policy.of(x)
  local text = server.call('GET', keys.of_execution(x.tag, x.id, 'policy'))
  return text and policy.decode(text) or {}
end

-- A member that is a finite number, else what counts without it.
function policy.number(from, name, otherwise)
  local value = type(from) == 'table' and from[name]
  local finite = type(value) == 'number' and value > -math.huge and value < math.huge
  return finite and value or otherwise
end

function policy.table(from, name)
  local value = type(from) == 'table' and from[name]
  return type(value) == 'table' and value or nil
end

function policy.max_reclaims(x, otherwise)
  local all = policy.of(x)
  local nested = policy.number(policy.table(all, 'timeout_policy'), 'max_reclaim_count', nil)
  return policy.number(all, 'max_reclaim_count', nested or otherwise or 100)
end

function policy.max_replays(x)
  return policy.number(policy.of(x), 'max_replay_count', 10)
end

-- A number from 0 to 1 that is as random as the attempt's id, and the same wherever it is computed.
local function fraction_of(attempt_id)
  return (tonumber(string.sub(attempt_id or '', -8), 16) or 0) / 4294967295
end

local function delay_of(backoff, retry, attempt_id)
  if backoff.type == 'fixed' then return policy.number(backoff, 'delay_ms', 1000) end
  if backoff.type ~= 'exponential' then return 1000 end
  local initial = policy.number(backoff, 'initial_delay_ms', 1000)
  if initial == 0 then return 0 end  -- the power may be infinite
  local delay = math.min(initial * policy.number(backoff, 'multiplier', 2) ^ retry,
    policy.number(backoff, 'max_delay_ms', 60000))
  if backoff.jitter == true then delay = delay * (0.5 + 0.5 * fraction_of(attempt_id)) end
  return delay
end

-- Whole milliseconds before retry number `retry` (from 0).
function policy.backoff(retry_policy, retry, attempt_id)
  local delay = delay_of(policy.table(retry_policy, 'backoff') or {}, retry, attempt_id)
  return math.floor(math.max(0, math.min(delay, arguments.duration_max)) + 0.5)
end

function policy.is_retryable(retry_policy, category)
  local only = policy.table(retry_policy, 'retryable_categories')
  if only and #only > 0 then
    for _, each in ipairs(only) do
      if each == category then return true end
    end
    return false
  end
  return category ~= 'permanent' and category ~= 'cancelled'
end

-- When the policy lets another attempt begin if the running one fails now. nil: never.
function policy.retry_at(x, retry_policy, category)
  if not retry_policy then return nil end
  local retries = execution.count(x, 'retry_count')
  if retries >= policy.number(retry_policy, 'max_retries', 0) then return nil end
  if not policy.is_retryable(retry_policy, category or '') then return nil end
  return x.now + policy.backoff(retry_policy, retries, x.f.current_attempt_id)
end

return policy
