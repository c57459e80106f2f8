-- Cancels the nodes before a node that started without them, if no other node waits for them; one slice of them.
--   keys   core
--   args   now, origin, first (place among its edges, from 0), run (of the node, which started)
--   reply  OK events next (where to go on; empty at the end)
-- Safe to repeat.
commands.register('ff_cancel_rest', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, first, run = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

  local draft, x = flow_draft.of_node(core_key, arguments.now(now))
  -- In a later run it waits for them once more.
  if not draft or execution.count(x, 'replay_count') ~= run then return reply.ok('', '') end

  local next_place = flow_draft.cancel_rest(draft, x.id, first)
  flow_draft.finish(draft)
  return reply.ok(events.tell_flow(draft, origin), tostring(next_place or ''))
end)
