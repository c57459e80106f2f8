-- Appends to a stream that hold frames from a number on, in order.
--   keys   core
--   args   now, stream, from, frames_max, bytes_max
--   reply  OK public_state stream (as lib/streams.lua tells of it; '' if nobody has written to it), then the
--          entries of appends, of which those whose frames are no longer kept have none; or, if it is a summary whose
--          patches do not suffice, its document
-- Ends with the append that reaches either maximum, and after so many without frames.
local entries_at_once, gone_max = 16, 1000

server.register_function{
  function_name = 'ff_read_frames',
  callback = function(KEYS, ARGV)
    local core_key = KEYS[1]
    local name, from, frames_max, bytes_max = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

    local core = server.call('HMGET', core_key, 'public_state', 'has_streams')
    if not core[1] then return reply.refuse('execution_not_found') end
    local tag, id = keys.parse_core(core_key)
    local text = core[2] and server.call('HGET', streams.key(tag, id), name) or ''
    local answer = reply.ok(core[1], text)
    if text == '' then return answer end
    if streams.needs_snapshot(streams.parse(text), from) then
      answer[#answer + 1] = server.call('GET', streams.document_key(tag, id, name))
      return answer
    end
    local frames_key, frames, bytes, gone = streams.frames_key(tag, id, name), 0, 0, 0
    local resolve = attempt_streams.resolver(tag, id)
    local after = string.format('(%.0f-0', from)
    while frames < frames_max and bytes < bytes_max do
      local entries = server.call('XRANGE', frames_key, after, '+', 'COUNT', entries_at_once)
      for _, entry in ipairs(entries) do
        entry = resolve(entry)
        answer[#answer + 1] = entry
        if #entry[2] == 2 then gone = gone + 1 end
        -- Of the first append, only what comes from there on.
        frames = frames + math.min(#entry[2] / 2 - 1, tonumber(string.match(entry[1], '^%d+')) - from)
        for i = 4, #entry[2], 2 do bytes = bytes + #entry[2][i] end
        after = '(' .. entry[1]
        if frames >= frames_max or bytes >= bytes_max or gone >= gone_max then return answer end
      end
      if #entries < entries_at_once then break end
    end
    return answer
  end,
  flags = {'no-writes'},
}
