-- Streams of an execution. The hash `streams` tells of each, by its name:
--   index, durability, when_full, first, next, bytes, attempt, written, last_count, last_at, kind, lost, version,
--   server, writer     joined by byte 31
-- as core::Stream; `server` names the run of the server, and `writer` is the lease epoch, of the last append that began
-- to write. The frames of stream NAME are in the Valkey stream `frames:NAME`: an entry for each append. Its id is the
-- number behind its last frame and 0, its first field is
--   attempt, time, 1 if the append tells that an attempt begins     joined by byte 31
-- and, if there are some, how many numbers before its own have no frames; with an empty value. Then follow the
-- frames: type and correlation, joined by byte 31, and bytes. A frame that a program of the contract appended is kept in
-- its attempt's stream (lib/attempt_streams.lua); the entry here has only the first field, and the bytes that the frame
-- counts as its value. `document:NAME` is the document of a summary stream.
local streams = {}

local bytes_per_frame = 32

function streams.key(tag, id)
  return keys.of_execution(tag, id, 'streams')
end

function streams.frames_key(tag, id, name)
  return keys.of_execution(tag, id, 'frames:' .. name)
end

function streams.document_key(tag, id, name)
  return keys.of_execution(tag, id, 'document:' .. name)
end

-- A stream that nobody has written to. `given` has durability, when_full and kind.
function streams.new(index, given)
  return {
    index = index, durability = given.durability, when_full = given.when_full, kind = given.kind, first = 0, next = 0,
    bytes = 0, attempt = 0, written = 0, last_count = 0, last_at = 0, lost = 0, version = 0, server = '', writer = '',
  }
end

local pattern = '^(%d+)\31(%a+)\31(%a+)\31(%d+)\31(%d+)\31(%d+)\31(%d+)\31(%d+)\31(%d+)\31(%d+)\31(%a+)\31(%d+)'
  .. '\31(%d+)\31(%w*)\31(%d*)$'

function streams.parse(text)
  local index, durability, when_full, first, next, bytes, attempt, written, last_count, last_at, kind, lost, version,
    run, writer = string.match(text, pattern)
  return {
    index = tonumber(index), durability = durability, when_full = when_full, first = tonumber(first),
    next = tonumber(next), bytes = tonumber(bytes), attempt = tonumber(attempt), written = tonumber(written),
    last_count = tonumber(last_count), last_at = tonumber(last_at), kind = kind, lost = tonumber(lost),
    version = tonumber(version), server = run, writer = writer,
  }
end

-- nil: nobody has written to it.
function streams.load(tag, id, name)
  local text = server.call('HGET', streams.key(tag, id), name)
  return text and streams.parse(text) or nil
end

function streams.save(tag, id, name, s)
  server.call('HSET', streams.key(tag, id), name, string.format(
    '%d\31%s\31%s\31%.0f\31%.0f\31%.0f\31%d\31%.0f\31%d\31%.0f\31%s\31%.0f\31%.0f\31%s\31%s', s.index,
    s.durability, s.when_full, s.first, s.next, s.bytes, s.attempt, s.written, s.last_count, s.last_at, s.kind, s.lost,
    s.version, s.server, s.writer))
end

local numbers_at_once = 4194304
local epoch_s = 1577836800

-- A number that no frame of an earlier run has had: more than four million a second since 2020.
function streams.behind_lost(next, now_ms)
  return math.max(math.floor(next / numbers_at_once) + 1, math.floor(now_ms / 1000) - epoch_s) * numbers_at_once
end

-- Whether another run of the server than this one has acknowledged frames: only its end can have cost some of them.
function streams.may_have_lost_durable(s)
  return s.server ~= '' and s.server ~= commands.run()
end

-- How many numbers an append leaves out, because readers may have seen lost frames under them. The holder of the lease
-- under which the stream was written knows what it has lost; of an earlier one nobody knows.
function streams.gap_before(s, now, lost, begins, lease_epoch)
  local gap = lost > 0 and begins and lost + 1 or lost
  if s.writer == lease_epoch then return gap end
  local before = s.server
  s.server, s.writer = commands.run(), lease_epoch
  local may_have_lost = s.next > 0 and before ~= '' and before ~= s.server and s.durability ~= 'durable'
  return may_have_lost and streams.behind_lost(s.next, now) - s.next or gap
end

-- Whether a reader needs the document of a summary, rather than patches.
function streams.needs_snapshot(s, from)
  return s.version > 0 and (from == 0 or from < s.first or from > s.next)
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
  s.lost = s.lost - tonumber(string.match(oldest[2][1], '^%d+\31%d+\31%d+\31(%d+)$') or '0')
end

-- Calls visit(key) for each key of the execution's streams.
function streams.each_key(x, visit)
  if not x.f.has_streams then return end
  local key = streams.key(x.tag, x.id)
  for _, name in ipairs(server.call('HKEYS', key)) do
    visit(streams.frames_key(x.tag, x.id, name))
    visit(streams.document_key(x.tag, x.id, name))
  end
  visit(key)
end

return streams
