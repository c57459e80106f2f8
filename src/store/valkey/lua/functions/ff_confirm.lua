-- Something to wait for: a write of this connection, after all that was answered before. KEYS: a key for
-- it. Replies OK and the name of this run of the server.
server.register_function('ff_confirm', function(KEYS)
  call('SET', KEYS[1], '1')
  return reply.ok(commands.run())
end)
