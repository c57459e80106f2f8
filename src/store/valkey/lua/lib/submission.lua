-- Checks and reads the JSON arguments of ff_create_execution.
local submission = {}

local tokens_max, csv_bytes_max = 256, 4096
local largest = 9007199254740991  -- whole number that JSON's doubles can tell from its neighbours

-- Unicode's control characters and blanks in UTF-8: no worker can offer a capability that has one.
local blanks = {
  '[%z\1-\32\127]', '\194[\128-\160]', '\225\154\128', '\226\128[\128-\138\168\169\175]',
  '\226\129\159', '\227\128\128',
}

local function has_blank(text)
  for _, pattern in ipairs(blanks) do
    if string.find(text, pattern) then return true end
  end
  return false
end

local function wrong_with(token)
  if type(token) ~= 'string' then return 'non_string_token' end
  if token == '' then return 'empty_token' end
  if string.find(token, ',', 1, true) then return 'comma_in_token' end
  if has_blank(token) then return 'control_or_whitespace' end
end

-- The required capabilities as CSV (nil if none are), or nil and the refusal.
local function capabilities(decoded)
  local function refuse(what)
    return nil, reply.refuse('invalid_capabilities', 'required:' .. what)
  end
  local routing = decoded.routing_requirements
  if routing == nil then return nil end
  if type(routing) ~= 'table' then
    return nil, reply.refuse('invalid_policy_json', 'routing_requirements:not_object')
  end
  local required = routing.required_capabilities
  if required == nil then return nil end
  if type(required) ~= 'table' then return refuse('not_array') end
  local tokens = {}
  for i, token in ipairs(required) do
    local wrong = wrong_with(token)
    if wrong then return refuse(wrong) end
    tokens[i] = token
  end
  if #tokens > tokens_max then return refuse('too_many_tokens') end
  table.sort(tokens)
  local csv = table.concat(tokens, ',')
  if #csv > csv_bytes_max then return refuse('too_many_bytes') end
  return csv ~= '' and csv or nil
end

-- The members that must be numbers, by the object that they stand in.
local numbers = {
  {{}, {'max_reclaim_count', 'max_replay_count', 'dedup_window_ms', 'max_signals_per_execution'}},
  {{'retry_policy'}, {'max_retries'}},
  {{'retry_policy', 'backoff'}, {'delay_ms', 'initial_delay_ms', 'max_delay_ms', 'multiplier'}},
  {{'timeout_policy'}, {'attempt_timeout_ms', 'execution_deadline_ms', 'max_reclaim_count'}},
  {{'stream_policy'}, {'retention_ttl_ms'}},
}

-- The object at `path`; nil if it is left out or null, and its name too if it is something else.
local function object_at(decoded, path)
  local object = decoded
  for depth, name in ipairs(path) do
    object = object[name]
    if object == nil or object == cjson.null then return nil end
    if type(object) ~= 'table' then return nil, table.concat(path, '.', 1, depth) end
  end
  return object
end

local function wrong_number(value)
  if type(value) ~= 'number' or value ~= value then return 'not_number' end
  if value < 0 or value > arguments.duration_max then return 'out_of_range' end
end

local function check_numbers(decoded)
  for _, group in ipairs(numbers) do
    local path, names = group[1], group[2]
    local object, not_object = object_at(decoded, path)
    if not_object then return reply.refuse('invalid_policy_json', not_object .. ':not_object') end
    for _, name in ipairs(object and names or {}) do
      local wrong = object[name] ~= nil and wrong_number(object[name])
      if wrong then
        local full_name = table.concat({table.concat(path, '.'), name}, #path > 0 and '.' or '')
        return reply.refuse('invalid_policy_json', full_name .. ':' .. wrong)
      end
    end
  end
end

local function positive(object, name)
  local value = math.floor(policy.number(object, name, 0))
  return value > 0 and value or nil
end

local function is_uuid(value)
  return type(value) == 'string'
    and string.find(value, '^........%-....%-....%-....%-............$') ~= nil
    and string.gsub(value, '[0-9a-f]', '') == '----'
end

local budgets_max = 16

local fairness_key_max, fairness_weight_max = 128, 1000

-- Blanks and control characters would not come back from where the key is kept.
local function check_share(decoded)
  local key, weight = decoded.fairness_key, decoded.fairness_weight
  if key ~= nil and key ~= cjson.null then
    if type(key) ~= 'string' then return 'fairness_key:not_text' end
    if key == '' then return 'fairness_key:empty' end
    if has_blank(key) then return 'fairness_key:control_or_whitespace' end
    if #key > fairness_key_max then return 'fairness_key:too_long' end
  end
  if weight == nil or weight == cjson.null then return nil end
  if type(weight) ~= 'number' or weight ~= math.floor(weight) or weight < 1 or weight > fairness_weight_max then
    return 'fairness_weight:out_of_range'
  end
  if type(key) ~= 'string' then return 'fairness_weight:without_fairness_key' end
end

-- Weight, blank, fairness key of a policy; nil if it names no key.
function submission.fairness(decoded)
  if type(decoded.fairness_key) ~= 'string' then return nil end
  return string.format('%.0f %s', policy.number(decoded, 'fairness_weight', 1), decoded.fairness_key)
end

local function check_attached(decoded)
  local budgets, quota = decoded.budget_ids, decoded.quota_policy_id
  if budgets ~= nil and budgets ~= cjson.null then
    if type(budgets) ~= 'table' then return 'budget_ids:not_array' end
    for _, id in pairs(budgets) do
      if not is_uuid(id) then return 'budget_ids:not_uuid' end
    end
    if #budgets > budgets_max then return 'budget_ids:too_many' end
  end
  if quota ~= nil and quota ~= cjson.null and not is_uuid(quota) then
    return 'quota_policy_id:not_uuid'
  end
  return check_share(decoded)
end

local signals_usual = 10000

-- Budgets (CSV, nil if none), quota, the limit of signals (nil: the usual one) and the fairness of a policy.
function submission.attached(decoded)
  local budgets = policy.table(decoded, 'budget_ids') or {}
  local quota = decoded.quota_policy_id
  local signals = math.floor(policy.number(decoded, 'max_signals_per_execution', signals_usual))
  return #budgets > 0 and table.concat(budgets, ',') or nil, is_uuid(quota) and quota or nil,
    signals ~= signals_usual and tostring(signals) or nil, submission.fairness(decoded)
end

-- Fields of a policy that the core keeps: required_capabilities, attempt_timeout_ms, deadline_ms (relative),
-- dedup_ms, retention_ms, budget_ids, quota_policy_id, max_signals, fairness. Or nil and the refusal.
function submission.policy(text)
  if not text or text == '' or text == '{}' then return {} end
  local fine, decoded = pcall(cjson.decode, text)
  if not fine then return nil, reply.refuse('invalid_policy_json', 'malformed') end
  if type(decoded) ~= 'table' then return {} end
  local required, refused = capabilities(decoded)
  refused = refused or check_numbers(decoded)
  if refused then return nil, refused end
  local wrong = check_attached(decoded)
  if wrong then return nil, reply.refuse('invalid_policy_json', wrong) end
  local budgets, quota, max_signals, fairness = submission.attached(decoded)
  local timeouts = policy.table(decoded, 'timeout_policy')
  local retention = policy.number(policy.table(decoded, 'stream_policy'), 'retention_ttl_ms', nil)
  return {
    required_capabilities = required,
    attempt_timeout_ms = positive(timeouts, 'attempt_timeout_ms'),
    deadline_ms = positive(timeouts, 'execution_deadline_ms'),
    dedup_ms = positive(decoded, 'dedup_window_ms'),
    retention_ms = retention and math.floor(retention),
    budget_ids = budgets, quota_policy_id = quota, max_signals = max_signals, fairness = fairness,
  }
end

local function tag_text(value)
  if type(value) == 'string' then return value end
  if type(value) == 'boolean' then return tostring(value) end
  if type(value) ~= 'number' or not (math.abs(value) <= largest) then return nil end
  return string.format(value == math.floor(value) and '%.0f' or '%.14g', value)
end

-- A list of key, value, …; or nil and the refusal.
function submission.tags(text)
  if not text or text == '' or text == '{}' then return {} end
  local decoded = policy.decode(text)
  if not decoded then
    return nil, reply.refuse('invalid_input', 'tags_json must be a JSON object')
  end
  local list = {}
  for key, value in pairs(decoded) do
    local as_text = tag_text(value)
    if not as_text then
      return nil, reply.refuse('invalid_input', 'tag must be a text: ' .. tostring(key))
    end
    list[#list + 1] = tostring(key)
    list[#list + 1] = as_text
  end
  return list
end

return submission
