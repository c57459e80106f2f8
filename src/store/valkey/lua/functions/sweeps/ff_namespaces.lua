-- The namespaces that have executions in a partition.
--   keys   any key of the partition
--   args   none
--   reply  OK and their names
server.register_function{
  function_name = 'ff_namespaces',
  callback = function(KEYS)
    local tag = keys.tag_in(KEYS[1])

    local seen, names = {}, reply.ok()
    for _, queue in ipairs(totals.queues(tag)) do
      local name = string.match(queue, '^(.-)\30') or 'default'
      if not seen[name] then names[#names + 1] = name end
      seen[name] = true
    end
    return names
  end,
  flags = {'no-writes'},
}
