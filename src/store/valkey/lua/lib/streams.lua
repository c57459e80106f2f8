-- Streams of an execution. The hash `streams` tells of each, by its name:
--   index, durability, when_full, first, next, bytes, attempt, written, last_count, last_at     joined by byte 31
-- as core::Stream. The frames of stream NAME are in the Valkey stream `frames:NAME`: an entry for each append. Its
-- id is the number behind its last frame and 0, its first field is
--   attempt, time, 1 if the append tells that an attempt begins     joined by byte 31
-- with an empty value; then follow the frames: type and correlation, joined by byte 31, and bytes. A frame that a
-- program of the contract appended is kept in its attempt's stream (lib/attempt_streams.lua); the entry here has only
-- the first field, and the bytes that the frame counts as its value.
local streams = {}

local bytes_per_frame = 32

function streams.key(tag, id)
  return keys.of_execution(tag, id, 'streams')
end

function streams.frames_key(tag, id, name)
  return keys.of_execution(tag, id, 'frames:' .. name)
end

local pattern = '^(%d+)\31(%a+)\31(%a+)\31(%d+)\31(%d+)\31(%d+)\31(%d+)\31(%d+)\31(%d+)\31(%d+)$'

-- nil: nobody has written to it.
function streams.load(tag, id, name)
  local text = server.call('HGET', streams.key(tag, id), name)
  if not text then return nil end
  local index, durability, when_full, first, next, bytes, attempt, written, last_count, last_at =
    string.match(text, pattern)
  return {
    index = tonumber(index), durability = durability, when_full = when_full, first = tonumber(first),
    next = tonumber(next), bytes = tonumber(bytes), attempt = tonumber(attempt), written = tonumber(written),
    last_count = tonumber(last_count), last_at = tonumber(last_at),
  }
end

function streams.save(tag, id, name, s)
  server.call('HSET', streams.key(tag, id), name, string.format(
    '%d\31%s\31%s\31%.0f\31%.0f\31%.0f\31%d\31%.0f\31%d\31%.0f', s.index, s.durability, s.when_full, s.first, s.next,
    s.bytes, s.attempt, s.written, s.last_count, s.last_at))
end

-- The frames in the arguments from a place on: as the fields of an entry, their number, and their bytes.
function streams.read_frames(ARGV, first, header)
  local fields, bytes, size = {header, ''}, 0, 2
  for i = first, #ARGV, 2 do
    local field, value = ARGV[i], ARGV[i + 1]
    fields[size + 1], fields[size + 2] = field, value
    size = size + 2
    bytes = bytes + bytes_per_frame + #field - 1 + #value
  end
  return fields, (size - 2) / 2, bytes
end

local function bytes_of(entry)
  local fields, bytes = entry[2], tonumber(entry[2][2]) or 0
  for i = 3, #fields, 2 do bytes = bytes + bytes_per_frame + #fields[i] - 1 + #fields[i + 1] end
  return bytes
end

-- Removes the oldest append.
function streams.trim(frames_key, s)
  local oldest = server.call('XRANGE', frames_key, '-', '+', 'COUNT', 1)[1]
  server.call('XDEL', frames_key, oldest[1])
  s.first = tonumber(string.match(oldest[1], '^%d+'))
  s.bytes = s.bytes - bytes_of(oldest)
end

-- Calls visit(key) for each key of the execution's streams.
function streams.each_key(x, visit)
  if not x.f.has_streams then return end
  local key = streams.key(x.tag, x.id)
  for _, name in ipairs(server.call('HKEYS', key)) do visit(streams.frames_key(x.tag, x.id, name)) end
  visit(key)
end

return streams
