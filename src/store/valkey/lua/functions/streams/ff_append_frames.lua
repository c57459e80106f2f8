-- Appends frames to a stream under the lease.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, stream, durability, when_full, kind, written, lost,
--          streams_max, frames_max, bytes_max, document_bytes_max, then of each frame: type and correlation, joined by
--          byte 31, and bytes
--   reply  OK '' first next, or DUPLICATE with the same
-- An append has no event; those who wait for frames are told of the execution.
local lease_fields = {
  'lifecycle_phase', 'ownership_state', 'lease_expires_at', 'current_lease_id', 'current_lease_epoch',
  'current_attempt_id', 'total_attempt_count', 'has_streams',
}
local frames_from = 16  -- among the arguments

-- The execution with no more than it takes to check a lease.
local function load_lease(core_key, now)
  local values = server.call('HMGET', core_key, unpack(lease_fields))
  if not values[1] then return nil end
  local tag, id = keys.parse_core(core_key)
  local f = {}
  for i, field in ipairs(lease_fields) do f[field] = values[i] or nil end
  return {tag = tag, id = id, f = f, now = now}
end

local function open(x, name, given, streams_max)
  local s = x.f.has_streams and streams.load(x.tag, x.id, name)
  if not s then
    local count = server.call('HLEN', streams.key(x.tag, x.id))
    if count >= streams_max then return nil, reply.refuse('stream_limit_exceeded') end
    return streams.new(count, given)
  end
  for _, field in ipairs{'durability', 'when_full', 'kind'} do
    if s[field] ~= given[field] then return nil, reply.refuse('stream_differs', field, s[field]) end
  end
  return s
end

-- Leaves out the numbers of frames that were lost; returns how many of them the append tells of. A reader of a
-- summary may have seen patches that were lost: it begins again with the document.
local function skip(s, frames_key, gap)
  if s.kind ~= 'summary' then
    s.next, s.lost = s.next + gap, s.lost + gap
    return gap
  end
  if gap > 0 then
    server.call('DEL', frames_key)
    s.next = s.next + gap
    s.first, s.bytes = s.next, 0
  end
  return 0
end

-- The document after the patches among the arguments; nil if it is too large.
local function merge(x, name, s, ARGV, bytes_max)
  local text = s.version > 0 and server.call('GET', streams.document_key(x.tag, x.id, name)) or 'null'
  local document = merge_patch.document(text)
  for i = frames_from + 1, #ARGV, 2 do merge_patch.merge(document, ARGV[i]) end
  local merged = merge_patch.text(document)
  return #merged <= bytes_max and merged or nil
end

commands.register('ff_append_frames', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, _, lease_id, lease_epoch, attempt_id, name, durability, when_full, kind, claimed, lost, streams_max,
    frames_max, bytes_max, document_bytes_max = unpack(ARGV, 1, frames_from - 1)

  local time = arguments.now(now)
  local x = load_lease(core_key, time)
  if not x then return reply.refuse('execution_not_found') end
  if leases.check(x, lease_id, lease_epoch, attempt_id) then
    return leases.check(execution.load(core_key, time), lease_id, lease_epoch, attempt_id)
  end
  local given = {durability = durability, when_full = when_full, kind = kind}
  local s, refused = open(x, name, given, tonumber(streams_max))
  if refused then return refused end

  local attempt = tonumber(x.f.total_attempt_count) - 1
  local begins = s.next > 0 and s.attempt ~= attempt
  local written = s.attempt == attempt and s.written or 0
  local frame_fields, count, bytes = streams.read_frames(ARGV, frames_from, '')
  claimed, lost = tonumber(claimed), tonumber(lost)
  if claimed + count == written and count == s.last_count then
    return {1, 'DUPLICATE', '', string.format('%.0f', s.next - count), string.format('%.0f', s.next)}
  end
  if durability == 'live' and claimed > written then lost = claimed - written end
  if durability == 'durable' and not streams.may_have_lost_durable(s) then lost = 0 end
  if claimed ~= written + lost then return reply.refuse('stream_sequence_gap', string.format('%.0f', written)) end

  local added, frames_key = count + (begins and 1 or 0), streams.frames_key(x.tag, x.id, name)
  local has_room = function()
    return s.first == s.next or (s.next - s.first - s.lost + added <= tonumber(frames_max)
      and s.bytes + bytes <= tonumber(bytes_max))
  end
  if when_full == 'refuse' and not has_room() then return reply.refuse('stream_full') end
  local document
  if kind == 'summary' then
    document = merge(x, name, s, ARGV, tonumber(document_bytes_max))
    if not document then return reply.refuse('summary_too_large') end
  end
  while not has_room() do streams.trim(frames_key, s) end
  local told = skip(s, frames_key, streams.gap_before(s, x.now, lost, begins, lease_epoch))
  s.next, s.bytes, s.attempt, s.written, s.last_count = s.next + added, s.bytes + bytes, attempt,
    written + lost + count, count
  s.last_at = math.max(time, s.last_at)
  frame_fields[1] = string.format('%d\31%.0f\31%s', attempt, s.last_at, begins and '1' or '0')
  if told > 0 then frame_fields[1] = string.format('%s\31%.0f', frame_fields[1], told) end
  server.call('XADD', frames_key, string.format('%.0f-0', s.next), unpack(frame_fields))
  if document then
    s.version = s.version + count
    server.call('SET', streams.document_key(x.tag, x.id, name), document)
  end
  streams.save(x.tag, x.id, name, s)
  if not x.f.has_streams then
    local whole = execution.load(core_key, time)
    execution.put(whole, {has_streams = 1})
    execution.save(whole)
  end
  events.tell_frames(x.tag, x.id)
  return reply.ok('', string.format('%.0f', s.next - count), string.format('%.0f', s.next))
end)
