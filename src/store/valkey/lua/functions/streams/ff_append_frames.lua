-- Appends frames to a stream under the lease.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, stream, durability, when_full, written, streams_max,
--          frames_max, bytes_max, then of each frame: type and correlation, joined by byte 31, and bytes
--   reply  OK '' first next, or DUPLICATE with the same
-- An append has no event; those who wait for frames are told of the execution.
local lease_fields = {
  'lifecycle_phase', 'ownership_state', 'lease_expires_at', 'current_lease_id', 'current_lease_epoch',
  'current_attempt_id', 'total_attempt_count', 'has_streams',
}
local frames_from = 13  -- among the arguments

-- The execution with no more than it takes to check a lease.
local function load_lease(core_key, now)
  local values = server.call('HMGET', core_key, unpack(lease_fields))
  if not values[1] then return nil end
  local tag, id = keys.parse_core(core_key)
  local f = {}
  for i, field in ipairs(lease_fields) do f[field] = values[i] or nil end
  return {tag = tag, id = id, f = f, now = now}
end

local function open(x, name, durability, when_full, streams_max)
  local s = x.f.has_streams and streams.load(x.tag, x.id, name)
  if not s then
    local count = server.call('HLEN', streams.key(x.tag, x.id))
    if count >= streams_max then return nil, reply.refuse('stream_limit_exceeded') end
    return {
      index = count, durability = durability, when_full = when_full, first = 0, next = 0, bytes = 0, attempt = 0,
      written = 0, last_count = 0, last_at = 0,
    }
  end
  if s.durability ~= durability then return nil, reply.refuse('stream_differs', 'durability', s.durability) end
  if s.when_full ~= when_full then return nil, reply.refuse('stream_differs', 'when_full', s.when_full) end
  return s
end

commands.register('ff_append_frames', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, _, lease_id, lease_epoch, attempt_id, name, durability, when_full, claimed, streams_max, frames_max,
    bytes_max = unpack(ARGV, 1, frames_from - 1)

  local time = arguments.now(now)
  local x = load_lease(core_key, time)
  if not x then return reply.refuse('execution_not_found') end
  if leases.check(x, lease_id, lease_epoch, attempt_id) then
    return leases.check(execution.load(core_key, time), lease_id, lease_epoch, attempt_id)
  end
  local s, refused = open(x, name, durability, when_full, tonumber(streams_max))
  if refused then return refused end

  local attempt = tonumber(x.f.total_attempt_count) - 1
  local begins = s.next > 0 and s.attempt ~= attempt
  local written = s.attempt == attempt and s.written or 0
  local at = math.max(time, s.last_at)
  local header = string.format('%d\31%.0f\31%s', attempt, at, begins and '1' or '0')
  local fields, count, bytes = streams.read_frames(ARGV, frames_from, header)
  claimed = tonumber(claimed)
  if claimed + count == written and count == s.last_count then
    return {1, 'DUPLICATE', '', string.format('%.0f', s.next - count), string.format('%.0f', s.next)}
  end
  if claimed ~= written then return reply.refuse('stream_sequence_gap', string.format('%.0f', written)) end

  local added, frames_key = count + (begins and 1 or 0), streams.frames_key(x.tag, x.id, name)
  local has_room = function()
    return s.next - s.first + added <= tonumber(frames_max) and s.bytes + bytes <= tonumber(bytes_max)
  end
  if when_full == 'refuse' and not has_room() then return reply.refuse('stream_full') end
  while not has_room() do streams.trim(frames_key, s) end
  s.next, s.bytes, s.attempt, s.written, s.last_count = s.next + added, s.bytes + bytes, attempt, written + count, count
  s.last_at = at
  server.call('XADD', frames_key, string.format('%.0f-0', s.next), unpack(fields))
  streams.save(x.tag, x.id, name, s)
  if not x.f.has_streams then
    local whole = execution.load(core_key, time)
    execution.put(whole, {has_streams = 1})
    execution.save(whole)
  end
  events.tell_frames(x.tag, x.id)
  return reply.ok('', string.format('%.0f', s.next - count), string.format('%.0f', s.next))
end)
