-- A write to wait for: it comes after everything that this connection was answered before.
--   keys   a key to write
--   args   none
--   reply  OK and the name of this run of the server
server.register_function('ff_confirm', function(KEYS)
  local key = KEYS[1]

  local run = commands.run()
  server.call('SET', key, '1')
  return reply.ok(run)
end)
