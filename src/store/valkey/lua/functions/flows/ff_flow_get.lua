-- A flow as it is stored.
--   keys   flow core
--   args   now
--   reply  OK fields tags
server.register_function{
  function_name = 'ff_flow_get',
  callback = function(KEYS, ARGV)
    local tag, id = keys.parse_flow(KEYS[1])
    local flow = flows.find(tag, id, arguments.now(ARGV[1]))
    if not flow then return flows.not_found() end
    return reply.ok(flows.shown(flow))
  end,
  flags = {'no-writes'},
}
