-- Bulk jobs by id.
--   keys   any of their partition
--   args   now, namespace (empty: those of all namespaces that run), after which id (empty: from the start), max
--   reply  OK and records
server.register_function{
  function_name = 'ff_bulk_list',
  callback = function(KEYS, ARGV)
    local tag = keys.tag_in(KEYS[1])
    local namespace, after, max = ARGV[2], ARGV[3], ARGV[4]

    local key = namespace == '' and bulks.running(tag) or bulks.of_namespace(tag, namespace)
    local from = after == '' and '-' or '(' .. after
    local answer = reply.ok()
    for _, id in ipairs(server.call('ZRANGE', key, from, '+', 'BYLEX', 'LIMIT', 0, max)) do
      answer[#answer + 1] = server.call('HGET', bulks.key(tag, id), 'record')
    end
    return answer
  end,
  flags = {'no-writes'},
}
