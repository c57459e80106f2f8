-- Removes an ended execution whose retention is over, or begins to remove an ended flow with its nodes.
--   keys   core; of a flow: as if its id were that of an execution
--   args   now, origin, is_early (1: an execution that is in no flow, whatever its retention; may be left out)
--   reply  OK event removed (1 or 0)
-- Safe to repeat.
local function remove_flow(core_key, now, origin)
  local tag, id = keys.parse_core(core_key)
  local flow = flows.load(tag, string.sub(id, #tag + 2), now)
  if not flow then return reply.refuse('execution_not_found') end
  if not flow.retention or flow.retention + placement.retention_default > now then
    return reply.ok('', '0')
  end

  local draft = flow_draft.begin(flow)
  flows.put(flow, {is_removing = 1, walk = 0})
  flow_draft.finish(draft, 'flow_removed')
  return reply.ok(events.tell_flow(draft, origin), '1')
end

commands.register('ff_remove', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, is_early = ARGV[1], ARGV[2], ARGV[3] == '1'

  local x = execution.load(core_key, arguments.now(now))
  if not x then return remove_flow(core_key, arguments.now(now), origin) end
  local is_kept = placement.retained_until(x.f) > x.now
  if is_early then is_kept = x.f.flow_id ~= nil end
  if x.f.lifecycle_phase ~= 'terminal' or is_kept then return reply.ok('', '0') end

  removal.remove(x)
  return reply.ok(events.tell(x, 'removed', origin), '1')  -- of what was loaded
end)
