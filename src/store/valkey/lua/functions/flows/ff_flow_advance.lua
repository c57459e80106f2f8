-- One slice of the outstanding work of a flow.
--   keys   flow core
--   args   now, origin
--   reply  OK events more (1 or 0)
-- Safe to repeat. The call that finds the walk at its end settles its effect: at any later time, another walk may
-- have begun.
commands.register('ff_flow_advance', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin = ARGV[1], ARGV[2]

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.load(tag, id, arguments.now(now))
  local effect = 'advance_flow ' .. id
  if not flow or not flow.f.walk then
    effects.settle(tag, effect)
    return reply.ok('', '0')
  end

  local draft = flow_draft.begin(flow)
  flow_draft.advance(draft)
  flow_draft.finish(draft)
  if not flow.f.walk then effects.settle(tag, effect) end
  return reply.ok(events.tell_flow(draft, origin), flow.f.walk and '1' or '0')
end)
