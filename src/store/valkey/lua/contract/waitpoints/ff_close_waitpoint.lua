-- Closes an open waitpoint: its token is useless from then on.
--   keys   core, waitpoint, pending_waitpoint_expiry
--   args   waitpoint_id, reason
--   reply  OK, or OK already_closed
-- The waitpoint tells which execution it belongs to; the core key counts where it does not.
local function clean(tag, id)
  server.call('ZREM', keys.index(tag, 'pending_waitpoint_expiry'), id)
end

server.register_function('ff_close_waitpoint', function(KEYS, ARGV)
  local core_key, waitpoint_key = KEYS[1], KEYS[2]
  local id, reason = ARGV[1] or '', arguments.given(ARGV[2]) or 'proactive_close'

  local tag = keys.tag_in(waitpoint_key or '')
  if not tag or waitpoint_key ~= keys.waitpoint(tag, id) then
    return reply.refuse('invalid_input', 'waitpoint_id must be the one in the waitpoint key, got: ' .. id)
  end
  local owner, state = unpack(server.call('HMGET', waitpoint_key, 'execution_id', 'state'))
  if not state then
    clean(tag, id)
    return reply.refuse('waitpoint_not_found')
  end
  if state == 'closed' or state == 'expired' then
    clean(tag, id)
    return reply.ok('already_closed')
  end
  local x = contract.find(arguments.given(owner) and keys.of_execution(tag, owner, 'core') or core_key)
  local waits = x and suspending.load(x)
  local waitpoint = x and suspending.find(waits, id)
  if not waitpoint then
    clean(tag, id)
    return reply.refuse('waitpoint_not_found')
  end
  if state ~= 'pending' and state ~= 'active' then return reply.refuse('waitpoint_not_open') end

  suspending.close_one(waits, waitpoint, reason)
  suspending.save(waits)
  contract.save(x, 'waitpoint_closed')
  return reply.ok()
end)
