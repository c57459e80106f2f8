-- Replies OK and the name of this run of the server.
server.register_function{
  function_name = 'ff_run',
  callback = function() return reply.ok(commands.run()) end,
  flags = {'no-writes'},
}
