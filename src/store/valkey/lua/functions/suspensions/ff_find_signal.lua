-- A signal by its idempotency key.
--   keys   core
--   args   now, idempotency_key
--   reply  OK name effect (as its sender was told), or OK if there is none
server.register_function{
  function_name = 'ff_find_signal',
  callback = function(KEYS, ARGV)
    local core_key, key = KEYS[1], ARGV[2]

    if server.call('EXISTS', core_key) == 0 then return reply.refuse('execution_not_found') end
    local tag, id = keys.parse_core(core_key)
    local known = signals.known_by(server.call('HGET', keys.of_execution(tag, id, 'signal_keys'), key))
    if not known then return reply.ok() end
    return reply.ok(server.call('HGET', keys.signal(tag, known.id), 'signal_name') or '', known.effect)
  end,
  flags = {'no-writes'},
}
