-- Ends a node that the engine runs: it stands for a list, or is a flow.
--   keys   core
--   args   now, origin, run (of the node), then `completed`, has_result (1 or 0), result, content_type; or `failed`,
--          reason, category
--   reply  OK events
-- Does nothing to a later run.
commands.register('ff_node_end', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, run, how = unpack(ARGV, 1, 4)

  local x = execution.load(core_key, arguments.now(now))
  local completes = how == 'completed'
  if not x or not flows.is_in_run(x, run) then return reply.ok('') end
  local may_complete = x.f.map_over and x.f.map_phase == 'c' or flows.has_subflow(x)
  if completes and not may_complete then return reply.ok('') end

  if completes then
    ending.complete_node(x, ARGV[5] == '1' and ARGV[6] or nil, arguments.given(ARGV[7]))
  else
    ending.fail_node(x, ARGV[5], ARGV[6])
  end
  execution.save(x)
  return reply.ok(events.tell(x, how, origin))
end)
