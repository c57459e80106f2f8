-- Cancels members of a flow that a program of the contract cancelled, some of those that are still to be.
--   keys   flow core
--   args   now, origin
--   reply  OK events cancelled more (1 or 0)
-- Members that have ended or are gone need nothing.
local members_max = 25

commands.register('ff_cancel_members', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin = ARGV[1], ARGV[2]

  local tag, id = keys.parse_flow(core_key)
  local pending, backlog = keys.flow(tag, id, 'pending_cancels'), keys.index(tag, 'cancel_backlog')
  local flow = flows.load(tag, id, arguments.now(now))
  if not flow or flow.f.public_flow_state ~= 'cancelled' then  -- it is gone, or runs again
    server.call('UNLINK', pending)
    server.call('ZREM', backlog, id)
    return reply.ok('', '0', '0')
  end

  local members = server.call('SRANDMEMBER', pending, members_max)
  local draft = flow_draft.begin(flow)
  local cancelled = flow_draft.cancel_all(draft, members, flow.f.cancel_reason or 'flow_cancelled')
  if #members > 0 then server.call('SREM', pending, unpack(members)) end
  local more = server.call('EXISTS', pending) == 1
  if not more then server.call('ZREM', backlog, id) end
  flow_draft.finish(draft)
  return reply.ok(events.tell_flow(draft, origin), tostring(cancelled), more and '1' or '0')
end)
