-- The frames of an attempt.
--   keys   stream, stream meta
--   args   from id (or -), to id (or +), count_limit, visibility (exclude_best_effort, or anything else for all)
--   reply  OK entries closed_at closed_reason
-- The stream names the execution; an attempt that ended is closed, whoever wrote to its stream.
local count_max = 10000
local time_max = 9007199254740991

-- Digits of a 64-bit number; none: `absent`.
local function number_of(digits, absent)
  if digits == '' then return absent end
  if #digits > 20 or #digits == 20 and digits > '18446744073709551615' then return nil end
  return tonumber(digits)
end

-- The id as text, time and number; `absent` is the number of a time alone, `step` leads into the range from an id that
-- does not belong to it.
local function place(text, absent, step)
  if text == '-' then return {text = text, time = 0, number = 0} end
  if text == '+' then return {text = text, time = time_max, number = time_max} end
  local outside, time_digits, separator, digits = string.match(text, '^(%(?)(%d+)(%-?)(%d*)$')
  if not time_digits or (separator == '') ~= (digits == '') then return nil end
  local time, number = number_of(time_digits), number_of(digits, absent)
  if not time or not number then return nil end
  return {text = text, time = time, number = outside == '' and number or number + step}
end

server.register_function{
  function_name = 'ff_read_attempt_stream',
  callback = function(KEYS, ARGV)
    local stream_key = KEYS[1]
    local from_id, to_id, count_limit, visibility = ARGV[1] or '-', ARGV[2] or '+', ARGV[3], ARGV[4]

    local count = tonumber(count_limit)
    if not count or count ~= count or count < 1 then
      return reply.refuse('invalid_input', 'count_limit must be >= 1')
    end
    if count > count_max then return reply.refuse('invalid_input', 'count_limit_exceeds_hard_cap') end
    if count ~= math.floor(count) then
      return reply.refuse('invalid_input', 'count_limit must be a whole number, got: ' .. count_limit)
    end
    local from, to = place(from_id, 0, 1), place(to_id, time_max, -1)
    if not from or not to then
      return reply.refuse('invalid_input', 'a stream id must be -, +, <ms> or <ms>-<seq>, got: '
        .. (from and to_id or from_id))
    end
    local tag, id, index = keys.parse_stream(stream_key or '')
    if not tag then
      return reply.refuse('invalid_input', 'the first key must be that of a stream, got: ' .. tostring(stream_key))
    end
    local of = {tag = tag, id = id, index = index}
    local entries = attempt_streams.read(of, from, to, count, math.huge, visibility == 'exclude_best_effort')
    return reply.ok(entries, attempt_streams.closing(of))
  end,
  flags = {'no-writes'},
}
