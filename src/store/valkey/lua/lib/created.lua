-- All executions of a namespace in a partition, in the order in which they came: one string of records,
-- each 8 bytes of time (milliseconds, big-endian) and 16 bytes of UUID. Times never decrease. An execution that is
-- removed leaves a record that leads nowhere, until half of them do.
local created = {}

local record_bytes = 24
created.record_bytes = record_bytes

local hex_of_byte, byte_of_hex

local function make_hex()
  hex_of_byte, byte_of_hex = {}, {}
  for byte = 0, 255 do
    local hex = string.format('%02x', byte)
    hex_of_byte[byte], byte_of_hex[hex] = hex, string.char(byte)
  end
end

-- The UUID in an execution id, as a record has it; nil if the id does not end in one in lower case.
function created.raw_of(tag, id)
  if not byte_of_hex then make_hex() end
  local uuid = string.sub(id, #tag + 2)
  if not string.find(uuid, '^........%-....%-....%-....%-............$') then return nil end
  local raw = string.gsub(string.gsub(uuid, '-', ''), '..', byte_of_hex)
  return #raw == 16 and raw or nil
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

-- ---- Records that lead nowhere -----------------------------------------------------------------------------
-- When half of the records lead nowhere, the others are copied to a list beside this one, a part with each removal;
-- `passed` counts those that were looked at. At the end that list takes the place of this one.
local records_at_once = 50

local function is_there(tag, record)
  local core = keys.of_execution(tag, created.id_of(tag, string.sub(record, 9)), 'core')
  local at = server.call('HGET', core, 'created_at')
  return at and tonumber(at) == (struct.unpack('>I8', record))
end

local function copy_part(tag, namespace, key, passed)
  local places, bytes, kept = keys.index(tag, 'gone'), record_bytes, key .. ':kept'
  local part = server.call('GETRANGE', key, passed * bytes, (passed + records_at_once) * bytes - 1)
  local records = {}
  for i = 1, #part, bytes do
    local record = string.sub(part, i, i + bytes - 1)
    if is_there(tag, record) then records[#records + 1] = record end
  end
  if #records > 0 then server.call('APPEND', kept, table.concat(records)) end
  passed = passed + #part / bytes
  if passed * bytes < server.call('STRLEN', key) then
    server.call('HSET', places, namespace .. '\31passed', passed)
    return
  end
  if server.call('EXISTS', kept) == 1 then server.call('RENAME', kept, key) else server.call('DEL', key) end
  server.call('HDEL', places, namespace .. '\31passed')
end

-- One more record leads nowhere.
function created.forget(x)
  local tag, namespace = x.tag, x.f.namespace
  local key, places = keys.created(tag, namespace), keys.index(tag, 'gone')
  local gone = server.call('HINCRBY', places, namespace, 1)
  local passed = server.call('HGET', places, namespace .. '\31passed')
  if not passed then
    local count = server.call('STRLEN', key) / record_bytes
    if gone < count and (gone < 16 or gone * 2 < count) then return end
    server.call('HDEL', places, namespace)  -- those that are gone by now are left out, others are counted anew
  end
  copy_part(tag, namespace, key, tonumber(passed or 0))
end

return created
