-- An execution as it is stored.
--   keys   core
--   args   which attempts (newest, all or none); optionally which bytes beside it (payload or result)
--   reply  OK core tags policy attempts bytes
-- Core, tags and attempts are flat lists of fields, the policy is a text; bytes are nil if there are none.
server.register_function{
  function_name = 'ff_get',
  callback = function(KEYS, ARGV)
    local core_key = KEYS[1]
    local which, beside = ARGV[1], ARGV[2]

    local core = server.call('HGETALL', core_key)
    if #core == 0 then return reply.refuse('execution_not_found') end
    local tag, id = keys.parse_core(core_key)
    local count = tonumber(server.call('HGET', core_key, 'total_attempt_count') or 0)
    local first = which == 'all' and 0 or which == 'newest' and math.max(count - 1, 0) or count
    local records = {}
    for index = first, count - 1 do
      local record = server.call('HGETALL', keys.attempt(tag, id, index))
      records[#records + 1] = #record > 0 and record or folded.record(execution.read(core_key))
    end
    local answer = reply.ok(core, server.call('HGETALL', keys.of_execution(tag, id, 'tags')),
      server.call('GET', keys.of_execution(tag, id, 'policy')) or '', records)
    if beside then answer[#answer + 1] = server.call('GET', keys.of_execution(tag, id, beside)) end
    return answer
  end,
  flags = {'no-writes'},
}
