-- The kept result of a step.
--   keys   core
--   args   now, name
--   reply  OK content_type result
server.register_function{
  function_name = 'ff_get_step',
  callback = function(KEYS, ARGV)
    local core_key, name = KEYS[1], ARGV[2]

    if server.call('EXISTS', core_key) == 0 then return reply.refuse('execution_not_found') end
    local tag, id = keys.parse_core(core_key)
    local step = server.call('HGET', keys.of_execution(tag, id, 'steps'), name)
    if not step then return reply.refuse('step_not_found') end
    return reply.ok(string.match(step, '([^\31]*)$'),
      server.call('HGET', keys.of_execution(tag, id, 'step_results'), name))
  end,
  flags = {'no-writes'},
}
