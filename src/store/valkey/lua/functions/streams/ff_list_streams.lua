-- The streams of an execution.
--   keys   core
--   args   now
--   reply  OK, then of each: name, and what lib/streams.lua tells of it
server.register_function{
  function_name = 'ff_list_streams',
  callback = function(KEYS)
    local core_key = KEYS[1]

    if server.call('EXISTS', core_key) == 0 then return reply.refuse('execution_not_found') end
    local tag, id = keys.parse_core(core_key)
    return reply.ok(unpack(server.call('HGETALL', streams.key(tag, id))))
  end,
  flags = {'no-writes'},
}
