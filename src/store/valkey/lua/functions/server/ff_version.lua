-- The version of this library.
--   keys   none
--   args   none
--   reply  MAJOR.MINOR
server.register_function{
  function_name = 'ff_version',
  callback = function() return library_version end,
  flags = {'no-writes'},
}
