-- One slice of the outstanding work of a flow.
--   keys   flow core
--   args   now, origin
--   reply  OK events more (1 or 0)
-- Safe to repeat.
commands.register('ff_flow_advance', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin = ARGV[1], ARGV[2]

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.load(tag, id, arguments.now(now))
  if not flow or not flow.f.walk then return reply.ok('', '0') end

  local draft = flow_draft.begin(flow)
  flow_draft.advance(draft)
  flow_draft.finish(draft)
  return reply.ok(events.tell_flow(draft, origin), flow.f.walk and '1' or '0')
end)
