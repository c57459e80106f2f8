server.register_function{
  function_name = 'ff_version',
  callback = function() return library_version end,
  flags = {'no-writes'},
}
