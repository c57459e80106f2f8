-- The name of this run of the server.
--   keys   none
--   args   none
--   reply  OK and the name
server.register_function{
  function_name = 'ff_run',
  callback = function() return reply.ok(commands.run()) end,
  flags = {'no-writes'},
}
