-- Ends a node that ran once for each entry of a list.
--   keys   core
--   args   now, origin, run (of the node), has_result (1 or 0), result (JSON), failure
--   reply  OK events
-- Does nothing to a later run.
commands.register('ff_map_end', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, run, has_result, result, failure = unpack(ARGV)

  local x = execution.load(core_key, arguments.now(now))
  local completes = has_result == '1'
  if not x or not flows.is_in_map(x, run, completes and 'c') then return reply.ok('') end

  ending.end_map(x, completes and result or nil, failure)
  execution.save(x)
  return reply.ok(events.tell(x, completes and 'completed' or 'failed', origin))
end)
