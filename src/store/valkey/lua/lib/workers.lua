-- The workers of a namespace: one hash, worker → record. A record is seven texts, joined by byte 31: lanes
-- (joined by byte 30), capabilities (CSV), draining (1 or 0), registered_at, last_seen_at, expires_at,
-- ttl_ms. An expired worker counts as absent; its record is removed when one is looked for or all are listed.
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

-- nil if it is not known, or has expired.
function workers.find(key, name, now)
  local record = server.call('HGET', key, name)
  local worker = record and unpacked(record)
  return worker and tonumber(worker.expires_at) > now and worker or nil
end

function workers.forget(key, name)
  server.call('HDEL', key, name)
end

function workers.save(key, name, worker)
  server.call('HSET', key, name, table.concat(workers.values(worker), '\31'))
end

function workers.see(worker, now)
  worker.last_seen_at, worker.expires_at = digits(now), digits(now + worker.ttl_ms)
end

-- Calls visit(name, worker) for each that is alive. Returns the names of the expired ones.
function workers.each(key, now, visit)
  local flat, expired = server.call('HGETALL', key), {}
  for i = 1, #flat, 2 do
    local worker = unpacked(flat[i + 1])
    if tonumber(worker.expires_at) > now then
      visit(flat[i], worker)
    else
      expired[#expired + 1] = flat[i]
    end
  end
  return expired
end

function workers.forget_all(key, names)
  for i = 1, #names, 1000 do
    server.call('HDEL', key, unpack(names, i, math.min(i + 999, #names)))
  end
end

return workers
