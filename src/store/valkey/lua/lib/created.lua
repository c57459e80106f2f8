-- All executions of a namespace in a partition, in the order in which they came: one string of records,
-- each 8 bytes of time (milliseconds, big-endian) and 16 bytes of UUID. Times never decrease. An execution that is
-- removed leaves a record that leads nowhere, until half of them do.
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

-- ---- Records that lead nowhere -----------------------------------------------------------------------------
-- When half of the records lead nowhere, the others move to the front, a part with each removal: those up to `moved` stand
-- before `kept`. The gap between the two holds records of the last time that was passed, with a UUID of
-- zeros, so that times never decrease in between.
local records_at_once = 50
local no_uuid = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

local function is_there(tag, record)
  local core = keys.of_execution(tag, created.id_of(tag, string.sub(record, 9)), 'core')
  local at = server.call('HGET', core, 'created_at')
  return at and tonumber(at) == (struct.unpack('>I8', record))
end

local function move_part(tag, namespace, key, count)
  local places, bytes = keys.index(tag, 'gone'), record_bytes
  local kept_field, moved_field = namespace .. '\31kept', namespace .. '\31moved'
  local kept = tonumber(server.call('HGET', places, kept_field) or 0)
  local moved = tonumber(server.call('HGET', places, moved_field) or 0)
  local part = server.call('GETRANGE', key, moved * bytes, (moved + records_at_once) * bytes - 1)
  local records = {}
  for i = 1, #part, bytes do
    local record = string.sub(part, i, i + bytes - 1)
    if is_there(tag, record) then records[#records + 1] = record end
  end
  if #records > 0 then server.call('SETRANGE', key, kept * bytes, table.concat(records)) end
  kept, moved = kept + #records, moved + #part / bytes
  if moved < count then
    local passed = string.sub(part, -bytes, -bytes + 7)
    server.call('SETRANGE', key, kept * bytes, string.rep(passed .. no_uuid, moved - kept))
    server.call('HSET', places, kept_field, kept, moved_field, moved)
    return
  end
  if kept == 0 then
    server.call('DEL', key)
  else
    server.call('SET', key, server.call('GETRANGE', key, 0, kept * bytes - 1))
  end
  server.call('HDEL', places, kept_field, moved_field)
end

-- One more record leads nowhere.
function created.forget(x)
  local tag, namespace = x.tag, x.f.namespace
  local key, places = keys.created(tag, namespace), keys.index(tag, 'gone')
  local gone = server.call('HINCRBY', places, namespace, 1)
  local count = server.call('STRLEN', key) / record_bytes
  local is_moving = server.call('HEXISTS', places, namespace .. '\31moved') == 1
  if not is_moving then
    if gone < count and (gone < 16 or gone * 2 < count) then return end
    server.call('HDEL', places, namespace)  -- those that are gone by now are left out, others are counted anew
  end
  move_part(tag, namespace, key, count)
end

return created
