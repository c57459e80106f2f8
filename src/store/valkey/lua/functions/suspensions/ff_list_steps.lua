-- The steps whose results an execution keeps.
--   keys   core
--   args   now
--   reply  OK, then of each step: name, and time, bytes and content type, joined by byte 31
server.register_function{
  function_name = 'ff_list_steps',
  callback = function(KEYS)
    local core_key = KEYS[1]

    if server.call('EXISTS', core_key) == 0 then return reply.refuse('execution_not_found') end
    local tag, id = keys.parse_core(core_key)
    return reply.ok(unpack(server.call('HGETALL', keys.of_execution(tag, id, 'steps'))))
  end,
  flags = {'no-writes'},
}
