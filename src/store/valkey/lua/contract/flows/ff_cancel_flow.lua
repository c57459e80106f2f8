-- Cancels a flow. Its nodes are the caller's to cancel, but with `cancel_pending`, which cancels those that have not
-- started.
--   keys   flow core, members, flow_index, pending_cancels, cancel_backlog
--   args   flow_id, reason, cancellation_policy, now_ms (not used), grace_ms
--   reply  OK cancellation_policy, then all nodes
local grace_usual = 30000
local largest = 9007199254740991
local members_at_once = 1000

-- nil if it is no duration.
local function grace_of(text)
  if text == nil or text == '' then return grace_usual end
  local number = tonumber(text)
  if not number or number ~= number or number < 0 or number > largest or number ~= math.floor(number) then
    return nil
  end
  return number
end

-- All nodes are to be cancelled, by the caller or by whoever looks after the backlog.
local function owe_cancels(flow, members, grace)
  local pending = keys.flow(flow.tag, flow.id, 'pending_cancels')
  for i = 1, #members, members_at_once do
    server.call('SADD', pending, unpack(members, i, math.min(i + members_at_once - 1, #members)))
  end
  server.call('ZADD', keys.index(flow.tag, 'cancel_backlog'), flow.now + grace, flow.id)
end

server.register_function('ff_cancel_flow', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local flow_id, reason, cancel_policy, grace = ARGV[1], ARGV[2] or '', ARGV[3] or '', grace_of(ARGV[5])

  if not grace then return reply.refuse('invalid_grace_ms') end
  local flow, refused = contract.load_open_flow(core_key, flow_id)
  if not flow then return refused end
  local members = server.call('SMEMBERS', keys.flow(flow.tag, flow_id, 'members'))

  local draft = flow_draft.begin(flow)
  flows.cancel(flow, reason, cancel_policy)
  if cancel_policy == 'cancel_all' and #members > 0 then owe_cancels(flow, members, grace) end
  if cancel_policy == 'cancel_pending' then flows.put(flow, {walk = 0}) end
  flow_draft.finish(draft)
  events.tell_flow(draft, '')
  local answer = reply.ok(cancel_policy)
  for _, id in ipairs(members) do answer[#answer + 1] = id end
  return answer
end)
