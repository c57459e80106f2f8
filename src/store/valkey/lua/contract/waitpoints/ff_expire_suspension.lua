-- Does what the timeout of a suspension says, if it has passed.
--   keys   core, suspension:current, waitpoint, its condition, attempt, stream meta, suspension_timeout, lane
--          suspended, lane terminal, lane eligible, lane delayed, lease:history
--   args   execution_id
--   reply  OK and: the behaviour and the public state then; not_yet_due; or why an entry of suspension_timeout was
--          removed
local function clean(tag, id, why)
  server.call('ZREM', keys.index(tag, 'suspension_timeout'), id)
  return reply.ok(why)
end

server.register_function('ff_expire_suspension', function(KEYS, ARGV)
  local core_key = KEYS[1]

  local tag, id = contract.identify(core_key, ARGV[1])
  if not tag then return id end
  local x = contract.find(core_key)
  if not x then return clean(tag, id, 'not_found_cleaned') end
  if x.f.lifecycle_phase ~= 'suspended' then return clean(tag, id, 'not_suspended_cleaned') end
  if not suspending.is_suspension_open(suspending.load(x)) then
    return clean(tag, id, 'no_active_suspension_cleaned')
  end
  local timeout_at = tonumber(x.f.suspension_timeout_at)
  if not timeout_at then
    contract.clean(x, keys.index(tag, 'suspension_timeout'))
    return reply.ok('not_yet_due')
  end
  if timeout_at > x.now then return reply.ok('not_yet_due') end

  local event, behavior = ending.time_out_suspension(x)
  contract.save(x, event)
  return reply.ok(behavior, x.f.public_state)
end)
