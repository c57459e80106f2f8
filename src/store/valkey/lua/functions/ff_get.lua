-- An execution as it is. KEYS: core. ARGV: 1 which attempts (newest, all or none), 2 maybe what
-- is stored beside it (payload or result). Replies OK core tags policy attempts, each a flat list of
-- fields, the policy a text, and the bytes that were asked for, nil if there are none.
server.register_function{
  function_name = 'ff_get',
  callback = function(KEYS, ARGV)
    local core = call('HGETALL', KEYS[1])
    if #core == 0 then return reply.refuse('execution_not_found') end
    local tag, id = keys.parse_core(KEYS[1])
    local count = tonumber(call('HGET', KEYS[1], 'total_attempt_count') or 0)
    local first = ARGV[1] == 'all' and 0 or ARGV[1] == 'newest' and math.max(count - 1, 0) or count
    local records = {}
    for index = first, count - 1 do
      records[#records + 1] = call('HGETALL', keys.attempt(tag, id, index))
    end
    local answer = reply.ok(core, call('HGETALL', keys.of_execution(tag, id, 'tags')),
      call('GET', keys.of_execution(tag, id, 'policy')) or '', records)
    if ARGV[2] then answer[#answer + 1] = call('GET', keys.of_execution(tag, id, ARGV[2])) end
    return answer
  end,
  flags = {'no-writes'},
}
