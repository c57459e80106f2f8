-- All executions of a namespace in a partition, in the order in which they came: one string of records,
-- each 8 bytes of time (milliseconds, big-endian) and 16 bytes of UUID. Times never decrease. Who is forgotten leaves a record
-- that leads nowhere, until half of them do.
local created = {}

local record_bytes = 24
created.record_bytes = record_bytes

local function to_raw(uuid)
  return (string.gsub(string.gsub(uuid, '-', ''), '%x%x', function(pair)
    return string.char(tonumber(pair, 16))
  end))
end

-- The UUID in an execution id, as a record has it.
function created.raw_of(tag, id)
  return to_raw(string.sub(id, #tag + 2))
end

local hex_of_byte

local function make_hex()
  hex_of_byte = {}
  for byte = 0, 255 do hex_of_byte[byte] = string.format('%02x', byte) end
end

function created.id_of(tag, raw)
  if not hex_of_byte then make_hex() end
  local x = hex_of_byte
  local a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p = string.byte(raw, 1, 16)
  return tag .. ':' .. x[a] .. x[b] .. x[c] .. x[d] .. '-' .. x[e] .. x[f] .. '-' .. x[g] .. x[h] .. '-'
    .. x[i] .. x[j] .. '-' .. x[k] .. x[l] .. x[m] .. x[n] .. x[o] .. x[p]
end

-- When an execution that comes now counts as created: not before the last one, though the clock may have
-- gone back since.
function created.next_time(tag, namespace, now)
  local last = server.call('GETRANGE', keys.created(tag, namespace), -record_bytes, 7 - record_bytes)
  local last_at = last ~= '' and struct.unpack('>I8', last) or now
  return arguments.time_text(last_at > now and last_at or now)
end

-- `raw` is created.raw_of its id.
function created.add(tag, namespace, created_at, raw)
  server.call('APPEND', keys.created(tag, namespace), struct.pack('>I8', tonumber(created_at)) .. raw)
end

function created.time_at(key, index)
  return (struct.unpack('>I8', server.call('GETRANGE', key, index * record_bytes, index * record_bytes + 7)))
end

-- How many records are not later than `time`, of `count`.
function created.count_until(key, count, time)
  if count == 0 or created.time_at(key, count - 1) <= time then return count end
  local low, high = 0, count - 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if created.time_at(key, middle) <= time then low = middle + 1 else high = middle end
  end
  return low
end

-- One more record leads nowhere. When half of them do, the others move together.
function created.forget(x)
  local key, tag = keys.created(x.tag, x.f.namespace), x.tag
  local gone = server.call('HINCRBY', keys.index(tag, 'gone'), x.f.namespace, 1)
  local count = server.call('STRLEN', key) / record_bytes
  if gone < count and (gone < 16 or gone * 2 < count) then return end
  local records, kept = server.call('GET', key), {}
  for i = 1, #records, record_bytes do
    local record = string.sub(records, i, i + record_bytes - 1)
    local core = keys.of_execution(tag, created.id_of(tag, string.sub(record, 9)), 'core')
    local at = server.call('HGET', core, 'created_at')
    if at and tonumber(at) == struct.unpack('>I8', record) then kept[#kept + 1] = record end
  end
  if #kept == 0 then
    server.call('DEL', key)
  else
    server.call('SET', key, table.concat(kept))
  end
  server.call('HDEL', keys.index(tag, 'gone'), x.f.namespace)
end

return created
