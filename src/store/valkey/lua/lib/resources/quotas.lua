-- Quotas: how many may start in any window of time, and how many may run at once. A start that our engine
-- lets in is known by a token: it has a place in the window, and a slot among `holders` until it gives that
-- back. Programs of the contract are known by their execution in `admitted_set`. `concurrency` counts
-- both.
local quotas = {}

local window_max = arguments.duration_max

function quotas.parse(key)
  return string.match(key or '', '^ff:quota:({q:%d+}):([^:]+)$')
end

function quotas.window_key(key)
  return key .. ':window:requests_per_window'
end

local function positive(text)
  local number = tonumber(text)
  return number and number > 0 and number or nil
end

-- Limits of the quota; nil if there is no such quota.
function quotas.load(key, now)
  local f = server.call('HMGET', key, 'created_at', 'max_requests_per_window', 'active_concurrency_cap',
    'window_ms', 'requests_per_window_seconds', 'jitter_ms')
  if not f[1] then return nil end
  return {
    key = key, now = now, rate = positive(f[2]), cap = positive(f[3]),
    window = tonumber(f[4]) or math.floor((tonumber(f[5]) or 0) * 1000), jitter = tonumber(f[6]) or 0,
  }
end

function quotas.namespace(key)
  local stored = server.call('HGET', key, 'namespace')
  return stored and stored ~= '' and stored or 'default'
end

-- `fields` is the definition as it is given.
function quotas.create(key, now, fields)
  local tag, id = quotas.parse(key)
  fields.quota_policy_id, fields.created_at = id, string.format('%.0f', now)
  local flat = {}
  for field, value in pairs(fields) do
    flat[#flat + 1] = field
    flat[#flat + 1] = value
  end
  server.call('HSET', key, unpack(flat))
  server.call('SET', key .. ':concurrency', '0')
  server.call('SADD', keys.index(tag, 'quota_policies'), id)
  server.call('ZADD', keys.index(tag, 'quotas:' .. (fields.namespace or 'default')), 0, id)
  quotas.tell_opening(key)
end

-- Publishes that work which waits for it may be able to start.
function quotas.tell_opening(key, namespace)
  local tag, id = quotas.parse(key)
  events.tell_opening('quota', tag, namespace or quotas.namespace(key), id)
end

function quotas.remove(key)
  local tag, id = quotas.parse(key)
  local namespace = quotas.namespace(key)
  for _, execution_id in ipairs(server.call('SMEMBERS', key .. ':admitted_set')) do
    server.call('UNLINK', key .. ':admitted:' .. execution_id)
  end
  server.call('UNLINK', key, quotas.window_key(key), key .. ':concurrency', key .. ':holders',
    key .. ':admitted_set')
  server.call('SREM', keys.index(tag, 'quota_policies'), id)
  server.call('ZREM', keys.index(tag, 'quotas:' .. namespace), id)
  quotas.tell_opening(key, namespace)
end

-- Seconds, as the contract has them; told in milliseconds.
function quotas.read_window(read, text)
  read:number('window_seconds', text, 0, window_max / 1000)
  return read:whole('window_seconds in milliseconds', (tonumber(text) or 0) * 1000, 0, window_max)
end

-- ---- The window: starts by their time. One exactly `window` old is past --------------------------------

local function since(now, window)
  return '(' .. string.format('%.0f', now - window)
end

function quotas.count_in_window(key, now, window)
  return server.call('ZCOUNT', quotas.window_key(key), since(now, window), '+inf')
end

-- When the start of that index among those in the window, from the oldest (0) on, is past.
function quotas.past_at(key, now, window, index)
  local start = server.call('ZRANGEBYSCORE', quotas.window_key(key), since(now, window), '+inf',
    'WITHSCORES', 'LIMIT', index, 1)
  return tonumber(start[2]) + window
end

-- About a thousand of those that are past, the oldest first: a call adds one start at most.
local forgotten_max = 1000
function quotas.forget_past(key, now, window)
  local last = server.call('ZRANGE', quotas.window_key(key), forgotten_max - 1, forgotten_max - 1, 'WITHSCORES')[2]
  local past = now - window
  server.call('ZREMRANGEBYSCORE', quotas.window_key(key), '-inf',
    string.format('%.0f', last and math.min(last, past) or past))
end

function quotas.give_slot_back(key)
  if server.call('DECR', key .. ':concurrency') < 0 then server.call('SET', key .. ':concurrency', '0') end
end

-- Programs of the contract hold a slot while their guard lasts. Looks at some of them, from `cursor` on,
-- and tells where to go on ('0': at the end); then the count is put right.
function quotas.mend(key, now, cursor)
  local q = quotas.load(key, now)
  if not q then return '0' end
  quotas.forget_past(key, now, q.window)
  local admitted = key .. ':admitted_set'
  local page = server.call('SSCAN', admitted, cursor, 'COUNT', 1000)
  for _, execution_id in ipairs(page[2]) do
    if server.call('EXISTS', key .. ':admitted:' .. execution_id) == 0 then
      server.call('SREM', admitted, execution_id)
    end
  end
  local before = tonumber(server.call('GET', key .. ':concurrency') or 0)
  local count = server.call('HLEN', key .. ':holders') + server.call('SCARD', admitted)
  if count ~= before then server.call('SET', key .. ':concurrency', count) end
  if count < before then quotas.tell_opening(key) end
  return page[1]
end

return quotas
