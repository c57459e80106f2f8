-- The workers of a namespace: one hash, worker → record. A record is seven texts, joined by byte 31: lanes
-- (joined by byte 30), capabilities (CSV), draining (1 or 0), registered_at, last_seen_at, expires_at,
-- ttl_ms. Who has expired is forgotten when somebody sees it.
local workers = {}

local fields = {
  'lanes', 'capabilities', 'draining', 'registered_at', 'last_seen_at', 'expires_at', 'ttl_ms',
}

local function digits(number)
  return string.format('%.0f', number)
end

-- In the order of a record.
function workers.values(worker)
  local values = {}
  for i, field in ipairs(fields) do values[i] = worker[field] end
  return values
end

local function unpacked(record)
  local worker, i = {}, 0
  for text in string.gmatch(record .. '\31', '(.-)\31') do
    i = i + 1
    worker[fields[i]] = text
  end
  return worker
end

-- nil if it is not known, or not any more.
function workers.find(key, name, now)
  local record = call('HGET', key, name)
  if not record then return nil end
  local worker = unpacked(record)
  if tonumber(worker.expires_at) > now then return worker end
  call('HDEL', key, name)
end

function workers.save(key, name, worker)
  call('HSET', key, name, table.concat(workers.values(worker), '\31'))
end

function workers.see(worker, now)
  worker.last_seen_at, worker.expires_at = digits(now), digits(now + worker.ttl_ms)
end

-- Calls visit(name, worker) for each that is alive.
function workers.each(key, now, visit)
  local flat, gone = call('HGETALL', key), {}
  for i = 1, #flat, 2 do
    local worker = unpacked(flat[i + 1])
    if tonumber(worker.expires_at) > now then
      visit(flat[i], worker)
    else
      gone[#gone + 1] = flat[i]
    end
  end
  for i = 1, #gone, 1000 do
    call('HDEL', key, unpack(gone, i, math.min(i + 999, #gone)))
  end
end

function workers.count(key, now)
  local count = 0
  workers.each(key, now, function() count = count + 1 end)
  return count
end
