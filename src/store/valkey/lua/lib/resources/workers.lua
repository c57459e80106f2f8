-- The workers of a namespace: one hash, worker → record. A record is nine texts, joined by byte 31: lanes
-- (joined by byte 30), capabilities (CSV), draining (1 or 0), registered_at, last_seen_at, expires_at,
-- ttl_ms, incarnation, held_until. The last two may be missing or empty: no incarnation holds the worker's id.
-- An expired worker counts as absent; its record is removed when one is looked for or all are listed.
local workers = {}

local fields = {
  'lanes', 'capabilities', 'draining', 'registered_at', 'last_seen_at', 'expires_at', 'ttl_ms',
  'incarnation', 'held_until',
}
local shown = 7  -- of these, to callers

local function digits(number)
  return string.format('%.0f', number)
end

local function values_to(last, worker)
  local values = {}
  for i = 1, last do values[i] = worker[fields[i]] or '' end
  return values
end

-- In the order of a record, without the incarnation.
function workers.values(worker)
  return values_to(shown, worker)
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
  server.call('HSET', key, name, table.concat(values_to(#fields, worker), '\31'))
end

-- A sign of life; that of an incarnation holds the worker's id.
function workers.see(worker, incarnation, now)
  worker.last_seen_at, worker.expires_at = digits(now), digits(now + worker.ttl_ms)
  if incarnation ~= '' then
    worker.incarnation, worker.held_until = incarnation, worker.expires_at
  end
end

-- Whether another incarnation than this one has the id of the worker; nil and '' are none.
function workers.is_taken(worker, incarnation, now)
  return (incarnation or '') ~= '' and worker.incarnation ~= incarnation
    and (tonumber(worker.held_until) or 0) > now
end

function workers.refuse_taken(worker, now)
  return reply.refuse('worker_id_in_use', worker.held_until, digits(worker.held_until - now))
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
