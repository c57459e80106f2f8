-- Signals of an execution in the order of their arrival, with payloads.
--   keys   core
--   args   now, from (index of the first), signals_max, bytes_max (of payloads)
--   reply  OK next (index to continue from; '' at the end), then of each signal: id, fields, payload
-- At least one signal comes, however large it is.
server.register_function{
  function_name = 'ff_get_signals',
  callback = function(KEYS, ARGV)
    local core_key = KEYS[1]
    local from, signals_max, bytes_max = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

    if server.call('EXISTS', core_key) == 0 then return reply.refuse('execution_not_found') end
    local tag, id = keys.parse_core(core_key)
    local index = keys.of_execution(tag, id, 'signals')
    local ids = server.call('ZRANGE', index, from, from + signals_max)
    local answer, bytes = reply.ok(''), 0
    for i, signal_id in ipairs(ids) do
      local key = keys.signal(tag, signal_id)
      if i > signals_max or bytes >= bytes_max then
        answer[3] = tostring(from + i - 1)
        return answer
      end
      local payload = server.call('GET', key .. ':payload') or ''
      bytes = bytes + #payload
      answer[#answer + 1] = signals.public_id(signal_id, id)
      answer[#answer + 1] = server.call('HGETALL', key)
      answer[#answer + 1] = payload
    end
    return answer
  end,
  flags = {'no-writes'},
}
