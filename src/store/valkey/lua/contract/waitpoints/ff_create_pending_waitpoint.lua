-- Opens a waitpoint before the suspension that waits for it, so that its token can be handed out first.
--   keys   core, waitpoint, pending_waitpoint_expiry, key ring
--   args   execution_id, attempt_index, waitpoint_id, waitpoint_key, expires_at
--   reply  OK waitpoint_id waitpoint_key waitpoint_token
local function refusal(x, attempt_index)
  local f = x.f
  if f.lifecycle_phase ~= 'active' then return contract.not_active(x) end
  if f.ownership_state ~= 'leased' then return reply.refuse('no_active_lease') end
  if folded.index(f) ~= attempt_index then return reply.refuse('stale_lease') end
  if fencing.is_due(x) then
    fencing.expire(x)
    return reply.refuse('lease_expired')
  end
end

server.register_function('ff_create_pending_waitpoint', function(KEYS, ARGV)
  local core_key, ring_key = KEYS[1], KEYS[4]
  local id, attempt_index, waitpoint_id, key, expires_text = ARGV[1], ARGV[2], ARGV[3], ARGV[4] or '', ARGV[5]

  local read = arguments.reader()
  read:text('waitpoint_id', waitpoint_id)
  local expires_at = read:time('expires_at', expires_text)
  if read.refused then return read.refused end
  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  refused = refusal(x, attempt_index)
  if refused then return refused end
  local waits = suspending.load(x)
  refused = waitpoints.check_new(x, waits, waitpoint_id) or suspending.has_too_many(waits, 1)
  if refused then return refused end
  local fields
  fields, refused = waitpoints.make(x, ring_key, waitpoint_id, key)
  if not fields then return refused end

  waitpoints.replace(x, waits, waitpoint_id)
  fields.state, fields.expires_at = 'pending', string.format('%.0f', expires_at)
  suspending.add_waitpoint(waits, waitpoint_id, fields)
  suspending.save(waits)
  contract.save(x, 'waitpoint_opened')
  return reply.ok(waitpoint_id, key, fields.waitpoint_token)
end)
