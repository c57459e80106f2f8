-- The record of a bulk job.
--   keys   bulk
--   args   now
--   reply  OK record | bulk_not_found
server.register_function{
  function_name = 'ff_bulk_get',
  callback = function(KEYS)
    local record = server.call('HGET', KEYS[1], 'record')
    if not record then return reply.refuse('bulk_not_found') end
    return reply.ok(record)
  end,
  flags = {'no-writes'},
}
