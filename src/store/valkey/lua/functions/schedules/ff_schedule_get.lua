-- A schedule as it is stored.
--   keys   schedule
--   args   now
--   reply  OK record version; OK alone if there is none
server.register_function{
  function_name = 'ff_schedule_get',
  callback = function(KEYS)
    local stored = server.call('HMGET', KEYS[1], 'record', 'version')
    if not stored[1] then return reply.ok() end
    return reply.ok(stored[1], stored[2])
  end,
  flags = {'no-writes'},
}
