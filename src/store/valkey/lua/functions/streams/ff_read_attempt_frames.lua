-- The frames of an attempt of the stream `output`, as ff_read_attempt_stream has them.
--   keys   core
--   args   now, attempt index, first time, first number, last time, last number, count, bytes_max
--   reply  OK closed_at closed_reason, then the entries
server.register_function{
  function_name = 'ff_read_attempt_frames',
  callback = function(KEYS, ARGV)
    local core_key = KEYS[1]
    local index, first_time, first_number, last_time, last_number, count, bytes_max = unpack(ARGV, 2, 8)

    if server.call('EXISTS', core_key) == 0 then return reply.refuse('execution_not_found') end
    local tag, id = keys.parse_core(core_key)
    local place = function(time, number)
      return {text = time .. '-' .. number, time = tonumber(time), number = tonumber(number)}
    end
    local of = {tag = tag, id = id, index = tonumber(index)}
    local entries = attempt_streams.read(of, place(first_time, first_number), place(last_time, last_number),
      tonumber(count), tonumber(bytes_max))
    local closed_at, reason = attempt_streams.closing(of)
    return reply.ok(closed_at, reason, unpack(entries))
  end,
  flags = {'no-writes'},
}
