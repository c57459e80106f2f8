-- The streams of attempts, as the contract has them, are one with the stream `output`. A frame of a contract's
-- program is an entry of its attempt's stream, and `frames:output` holds its place (lib/streams.lua). A frame that the
-- engine appended is kept in `frames:output` alone. Either kind of reader finds both.
--
-- The id of a frame is TIME-NUMBER: when it was appended, never earlier than the frame before, and its number in
-- `output`. Beside a stream, sets name its frames of the modes that are trimmed on their own:
--   ff:stream:T:E:I:ids:summary, ff:stream:T:E:I:ids:best_effort
local attempt_streams = {}

local name = 'output'
-- As limits::stream_frames_max and limits::stream_bytes_max.
local frames_max, bytes_max = 10000, 16 * 1024 * 1024
local entries_at_once = 8
local type_bytes_max, correlation_bytes_max = 64, 256  -- of frames as the engine shows them

local function parse_id(text)
  local time, number = string.match(text, '^(%d+)-(%d+)$')
  return tonumber(time), tonumber(number)
end

local function is_before(time, number, other_time, other_number)
  return time < other_time or time == other_time and number < other_number
end

-- ---- Text ------------------------------------------------------------------------------------------

local sequences = {
  '[\194-\223][\128-\191]', '\224[\160-\191][\128-\191]', '[\225-\236\238\239][\128-\191][\128-\191]',
  '\237[\128-\159][\128-\191]', '\240[\144-\191][\128-\191][\128-\191]',
  '[\241-\243][\128-\191][\128-\191][\128-\191]', '\244[\128-\143][\128-\191][\128-\191]',
}

function attempt_streams.is_utf8(text)
  if not string.find(text, '[\128-\255]') then return true end
  for _, sequence in ipairs(sequences) do text = string.gsub(text, sequence, ' ') end
  return not string.find(text, '[\128-\255]')
end

local is_utf8 = attempt_streams.is_utf8

-- A text of a contract's program as the engine's API shows it; '' if it cannot.
local function shown(text, bytes)
  if not is_utf8(text) or #text > bytes then return '' end
  return (string.gsub(text, '[%z\1-\31\127]', ' '))
end

-- ---- Frames of the engine ----------------------------------------------------------------------------

-- Attempt, time and the number behind the last frame of an append; of a place that is kept for a contract's program
-- also the bytes of the frame.
local function header_of(entry)
  local attempt, time = string.match(entry[2][1], '^(%d+)\31(%d+)')
  return tonumber(attempt), tonumber(time), tonumber(string.match(entry[1], '^%d+')), tonumber(entry[2][2])
end

-- The header of the append that holds a frame of `output`, or of the next one.
local function header_at(frames_key, number)
  local entry = server.call('XRANGE', frames_key, string.format('(%.0f-0', number), '+', 'COUNT', 1)[1]
  if not entry then return math.huge end
  return header_of(entry)
end

-- The number of the first frame of an attempt that has this id or a later one.
local function find(frames_key, s, index, time, number)
  if number > s.first and number <= s.next then
    local attempt, at = header_at(frames_key, number - 1)
    if attempt == index and at == time then return number end
  end
  local low, high = s.first, s.next
  while low < high do
    local middle = low + math.floor((high - low) / 2)
    local attempt, at = header_at(frames_key, middle)
    if attempt < index or attempt == index and is_before(at, middle, time, number) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

local function fields_of(at, field, bytes)
  local frame_type, correlation = string.match(field, '^([^\31]*)\31(.*)$')
  local fields = {
    'frame_type', frame_type, 'ts', string.format('%.0f', at), 'payload', bytes,
    'encoding', is_utf8(bytes) and 'utf8' or 'binary', 'source', 'worker',
  }
  if correlation ~= '' then
    fields[#fields + 1] = 'correlation_id'
    fields[#fields + 1] = correlation
  end
  return fields
end

-- The engine's frames of an attempt from one id to another, at most `count`, and none after `bytes_max` bytes. True if
-- there may be more.
local function own_frames(of, from, to, count, bytes_max)
  local found, bytes = {}, 0
  local s = streams.load(of.tag, of.id, name)
  if not s or s.first == s.next then return found end
  local frames_key = streams.frames_key(of.tag, of.id, name)
  local first = find(frames_key, s, of.index, from.time, from.number)
  local after = string.format('(%.0f-0', first)
  while true do
    local entries = server.call('XRANGE', frames_key, after, '+', 'COUNT', entries_at_once)
    for _, entry in ipairs(entries) do
      local attempt, at, last, other = header_of(entry)
      local fields = entry[2]
      local number = last - (other and 1 or #fields / 2 - 1)
      if attempt ~= of.index or is_before(to.time, to.number, at, number) then return found end
      for i = 3, #fields, 2 do
        if number >= first then
          if is_before(to.time, to.number, at, number) then return found end
          if #found == count or bytes >= bytes_max then return found, true end
          bytes = bytes + #fields[i + 1]
          found[#found + 1] = {
            time = at, number = number, entry = {
              string.format('%.0f-%.0f', at, number), fields_of(at, fields[i], fields[i + 1]),
            },
          }
        end
        number = number + 1
      end
      after = '(' .. entry[1]
    end
    if #entries < entries_at_once then return found end
  end
end

-- The fields of a frame of a contract's program as the engine keeps its own.
local function shown_fields(header, fields)
  local f = {}
  for i = 1, #fields, 2 do f[fields[i]] = fields[i + 1] end
  local frame_type = shown(f.frame_type or '', type_bytes_max)
  frame_type = frame_type == '' and 'data' or string.gsub(frame_type, ' ', '_')
  local correlation = shown(f.correlation_id or '', correlation_bytes_max)
  return {header, '', frame_type .. '\31' .. correlation, f.payload or ''}
end

-- A function that returns an entry of `frames:output` with its frames, wherever they are kept; without any if they are
-- gone. What is before the oldest entry of an attempt's stream is not searched for.
function attempt_streams.resolver(tag, id)
  local oldest = {}  -- kept number, by attempt
  return function(entry)
    local attempt, at, last, bytes = header_of(entry)
    if not bytes then return entry end
    local key, header, kept = keys.stream(tag, id, attempt), entry[2][1], nil
    if not oldest[attempt] then
      local first = server.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
      local _, number = parse_id(first and first[1] or '')
      oldest[attempt] = number or math.huge
    end
    if last - 1 >= oldest[attempt] then
      local entry_id = string.format('%.0f-%.0f', at, last - 1)
      kept = server.call('XRANGE', key, entry_id, entry_id)[1]
    end
    return {entry[1], kept and shown_fields(header, kept[2]) or {header, ''}}
  end
end

-- ---- Frames of an attempt ----------------------------------------------------------------------------

local function is_best_effort(entry)
  for i = 1, #entry[2], 2 do
    if entry[2][i] == 'mode' then return entry[2][i + 1] == 'best_effort' end
  end
  return false
end

local function bytes_of(entry)
  local bytes = 0
  for i = 2, #entry[2], 2 do bytes = bytes + #entry[2][i] end
  return bytes
end

-- Entries of the contract's programs from one id to another, at most `count`, and none after `bytes_max` bytes. True if
-- there may be more.
local function entries_of(of, from_id, to_id, count, bytes_max, without_best_effort)
  local key, found, bytes = keys.stream(of.tag, of.id, of.index), {}, 0
  local at_once = bytes_max < math.huge and entries_at_once or count
  while true do
    local entries = server.call('XRANGE', key, from_id, to_id, 'COUNT', at_once)
    for _, entry in ipairs(entries) do
      if #found == count or bytes >= bytes_max then return found, true end
      if not (without_best_effort and is_best_effort(entry)) then
        found[#found + 1], bytes = entry, bytes + bytes_of(entry)
      end
    end
    if #entries < at_once or #found == count then return found, #found == count end
    from_id = '(' .. entries[#entries][1]
  end
end

-- In the order of their ids. If there may be more own frames, nothing comes after the last of these.
local function merge(entries, own, count, has_more_own)
  local merged, i, j = {}, 1, 1
  while #merged < count and (own[j] or entries[i] and not has_more_own) do
    local entry, frame = entries[i], own[j]
    local time, number
    if entry and frame then time, number = parse_id(entry[1]) end
    if not frame or entry and is_before(time, number, frame.time, frame.number) then
      merged[#merged + 1], i = entry, i + 1
    else
      merged[#merged + 1], j = frame.entry, j + 1
    end
  end
  return merged
end

-- The frames of an attempt (`of` has tag, id, index) from one id to another, at most `count`, and none after about
-- `bytes_max` bytes of either kind. An id has text, time and number.
function attempt_streams.read(of, from, to, count, bytes_max, without_best_effort)
  local has = server.call('HMGET', keys.of_execution(of.tag, of.id, 'core'), 'has_streams', 'has_attempt_streams')
  if has[1] and not has[2] then
    return merge({}, (own_frames(of, from, to, count, bytes_max)), count)
  end
  local entries, has_more = entries_of(of, from.text, to.text, count, bytes_max, without_best_effort)
  if not has[1] then return entries end
  if has_more then  -- later ones are for the next page
    local time, number = parse_id(entries[#entries][1])
    to = {time = time, number = number}
  end
  local own, has_more_own = own_frames(of, from, to, count, bytes_max)
  return merge(entries, own, count, has_more_own)
end

-- ---- Closing -----------------------------------------------------------------------------------------

local by_state = {
  ended_success = 'attempt_success', ended_failure = 'attempt_failure', ended_cancelled = 'attempt_cancelled',
}
local by_reason = {
  attempt_timeout = 'expired', execution_deadline = 'expired', dependency_impossible = 'dependency_impossible',
}
local by_outcome = {
  success = 'attempt_success', failed = 'attempt_failure', cancelled = 'attempt_cancelled', expired = 'expired',
  skipped = 'dependency_impossible',
}

-- As core::closing_of.
local function closing_of_ended(of, state, ended_at, reason, category, lease_end)
  if state == 'interrupted_reclaimed' then
    local after = server.call('HMGET', keys.attempt(of.tag, of.id, of.index + 1), 'attempt_type', 'started_at')
    if after[1] == 'reclaim' then return after[2], 'reclaimed' end
    return ended_at, lease_end == 'revoked' and 'lease_revoked' or 'lease_expired'
  end
  if category == 'timeout' or state == 'ended_cancelled' then
    if string.sub(reason, 1, 19) == 'suspension_timeout:' then return ended_at, 'suspension_timeout' end
    if by_reason[reason] then return ended_at, by_reason[reason] end
  end
  return ended_at, by_state[state]
end

-- When and why an attempt came to its end, both '' before; also of an attempt that wrote nothing.
function attempt_streams.closing(of)
  local closed = server.call('HMGET', keys.stream_meta(of.tag, of.id, of.index), 'closed_at', 'closed_reason')
  if arguments.given(closed[1] or '') then return closed[1], closed[2] or '' end
  local attempt = server.call('HMGET', keys.attempt(of.tag, of.id, of.index), 'attempt_state', 'ended_at',
    'failure_reason', 'failure_category', 'lease_end')
  if attempt[1] then
    if not attempt[2] then return '', '' end
    return closing_of_ended(of, attempt[1], attempt[2], attempt[3] or '', attempt[4], attempt[5])
  end
  local core = server.call('HMGET', keys.of_execution(of.tag, of.id, 'core'), 'lifecycle_phase', 'terminal_outcome',
    'completed_at')
  if core[1] ~= 'terminal' or not by_outcome[core[2]] then return '', '' end
  return core[3] or '', by_outcome[core[2]]
end

-- ---- Appending ---------------------------------------------------------------------------------------

local retained_by_default, retained_of_summary = 10000, 64

-- Removes the oldest entries of one mode beyond `most`, and none of another mode.
local function trim_mode(key, ids_key, most)
  local over = server.call('ZCARD', ids_key) - most
  if over <= 0 then return end
  local oldest = server.call('ZPOPMIN', ids_key, math.min(over, 1000))
  for i = 1, #oldest, 2 do server.call('XDEL', key, oldest[i]) end
end

-- Entries that are gone leave the sets of their modes.
local function forget_trimmed(key)
  local first = server.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  local _, number = parse_id(first and first[1] or '')
  local before = number and string.format('(%.0f', number) or '+inf'
  for _, mode in ipairs({'summary', 'best_effort'}) do
    server.call('ZREMRANGEBYSCORE', key .. ':ids:' .. mode, '-inf', before)
  end
end

-- `modes` is the only mode of the stream, or `mixed`.
local function trim(key, frame, modes)
  local most = frame.mode == 'summary' and retained_of_summary or frame.mode == 'best_effort' and frame.most
  local gone
  if most and modes == 'mixed' then
    return trim_mode(key, key .. ':ids:' .. frame.mode, most)
  elseif most then
    gone = server.call('XTRIM', key, 'MAXLEN', '~', most)
  elseif frame.retention == 0 then
    gone = server.call('XTRIM', key, 'MAXLEN', '~', retained_by_default)
  else
    gone = server.call('XTRIM', key, 'MAXLEN', '=', frame.retention)
  end
  if gone > 0 and modes ~= 'durable' then forget_trimmed(key) end
end

-- How many entries a best-effort stream keeps: those of about twice its time to live.
local function smooth(frame, meta, now)
  local seconds = math.max(frame.ttl, 1) / 1000
  local rate = frame.floor / (seconds * 2)
  if meta.ema_rate_hz and meta.last_append_ts_ms then
    local between = math.max(now - tonumber(meta.last_append_ts_ms), 1)
    rate = frame.alpha * (1000 / between) + (1 - frame.alpha) * tonumber(meta.ema_rate_hz)
  end
  frame.most = math.max(frame.floor, math.min(math.ceil(rate * seconds * 2), frame.ceiling))
  return {
    'ema_rate_hz', string.format('%.14g', rate), 'last_append_ts_ms', string.format('%.0f', now),
    'maxlen_applied_last', string.format('%.0f', frame.most),
  }
end

local function open_output(x)
  local s = x.f.has_streams and streams.load(x.tag, x.id, name)
  return s or streams.new(server.call('HLEN', streams.key(x.tag, x.id)),
    {durability = 'buffered', when_full = 'trim', kind = 'frames'})
end

local function has_room(s, added, bytes)
  return s.next - s.first - s.lost + added <= frames_max and s.bytes + bytes <= bytes_max
end

local meta_fields = {
  'closed_at', 'last_sequence', 'modes', 'has_durable_frame', 'ema_rate_hz', 'last_append_ts_ms', 'stream_id',
}

local function load_meta(key)
  local values, meta = server.call('HMGET', key, unpack(meta_fields)), {}
  for i, field in ipairs(meta_fields) do meta[field] = values[i] and arguments.given(values[i]) end
  return meta
end

-- Prepares to append a frame to the stream of the running attempt: `append` for attempt_streams.append, or nil and the
-- refusal. Writes nothing.
function attempt_streams.prepare(x, frame)
  local index = tonumber(folded.index(x.f))
  local append = {
    key = keys.stream(x.tag, x.id, index), meta_key = keys.stream_meta(x.tag, x.id, index), index = index,
    frame = frame, bytes = #frame.payload + #frame.frame_type + #frame.correlation_id + 32,
  }
  append.meta = load_meta(append.meta_key)
  if append.meta.closed_at then return nil, reply.refuse('stream_closed') end
  local s = open_output(x)
  if s.kind == 'summary' then return nil, reply.refuse('invalid_input', 'the stream output is a summary') end
  append.begins = s.next > 0 and s.attempt ~= index
  append.added = append.begins and 2 or 1
  if s.when_full == 'refuse' and not has_room(s, append.added, append.bytes) then
    return nil, reply.refuse('retention_limit_exceeded', 'stream_full')
  end
  append.gap = streams.gap_before(s, x.now, 0, append.begins, x.f.current_lease_epoch)
  append.output = s
  return append
end

-- The id of the next entry: behind those that are there, whatever the clock says.
local function next_id(x, append)
  local s = append.output
  local time, number = math.max(x.now, s.last_at), s.next + append.gap + append.added - 1
  local last_time, last_number = parse_id(append.meta.last_sequence or '')
  if last_time and not is_before(last_time, last_number, time, number) then
    time = last_number < number and last_time or last_time + 1
  end
  return time, number
end

local function entry_fields(frame, version)
  local fields = {
    'frame_type', frame.frame_type, 'ts', frame.ts, 'payload', frame.payload, 'encoding', frame.encoding,
    'source', frame.source, 'mode', frame.mode,
  }
  local function add(field, value)
    fields[#fields + 1], fields[#fields + 2] = field, value
  end
  if frame.correlation_id ~= '' then add('correlation_id', frame.correlation_id) end
  if version then add('summary_version', version) end
  if frame.mode == 'best_effort' and frame.ttl > 0 then add('ttl_ms', string.format('%.0f', frame.ttl)) end
  return fields
end

-- Keeps the place of the frame in `output`.
local function keep_place(x, append, time, number)
  local s, frames_key = append.output, streams.frames_key(x.tag, x.id, name)
  while s.first < s.next and not has_room(s, append.added, append.bytes) do streams.trim(frames_key, s) end
  local written = s.attempt == append.index and s.written or 0
  s.next, s.bytes, s.attempt, s.written, s.last_count = number + 1, s.bytes + append.bytes, append.index, written + 1, 0
  s.last_at, s.lost = time, s.lost + append.gap
  local header = string.format('%d\31%.0f\31%s', append.index, time, append.begins and '1' or '0')
  if append.gap > 0 then header = string.format('%s\31%.0f', header, append.gap) end
  server.call('XADD', frames_key, string.format('%.0f-0', s.next), header, append.bytes)
  streams.save(x.tag, x.id, name, s)
end

local function first_fields(x, append)
  return {
    'stream_id', x.id .. ':' .. append.index, 'execution_id', x.id, 'attempt_id', append.frame.attempt_id,
    'attempt_index', append.index, 'created_at', x.at, 'closed_at', '', 'closed_reason', '',
    'durability_mode', 'durable_full', 'retention_maxlen', string.format('%.14g', append.frame.retention),
    'has_durable_frame', '0',
  }
end

-- Returns the id of the entry and how many frames were appended to the stream so far.
function attempt_streams.append(x, append, version)
  local frame, meta, key = append.frame, append.meta, append.key
  local time, number = next_id(x, append)
  local entry_id = string.format('%.0f-%.0f', time, number)
  server.call('XADD', key, entry_id, unpack(entry_fields(frame, version)))
  keep_place(x, append, time, number)

  local fields = meta.stream_id and {} or first_fields(x, append)
  local function add(...)
    for _, value in ipairs({...}) do fields[#fields + 1] = value end
  end
  local keeps = frame.mode == 'durable' or frame.mode == 'summary'
  local class = (frame.mode == 'summary' or frame.mode == 'best_effort') and frame.mode or 'durable'
  local modes = (meta.modes or class) == class and class or 'mixed'
  add('last_sequence', entry_id, 'last_frame_at', x.at, 'modes', modes)
  if frame.mode == 'best_effort' then add(unpack(smooth(frame, meta, x.now))) end
  if keeps and meta.has_durable_frame ~= '1' then add('has_durable_frame', '1') end
  server.call('HSET', append.meta_key, unpack(fields))
  local count = server.call('HINCRBY', append.meta_key, 'frame_count', 1)
  server.call('HINCRBY', append.meta_key, 'total_bytes', #frame.payload)

  local ids_key = class ~= 'durable' and key .. ':ids:' .. class
  if ids_key then server.call('ZADD', ids_key, number, entry_id) end
  trim(key, frame, modes)
  if keeps and meta.has_durable_frame ~= '1' then
    server.call('PERSIST', key)
  elseif frame.mode == 'best_effort' and meta.has_durable_frame ~= '1' and frame.ttl > 0 then
    server.call('PEXPIRE', key, 2 * frame.ttl)
    server.call('PEXPIRE', ids_key, 2 * frame.ttl)
  end
  return entry_id, count
end

return attempt_streams
