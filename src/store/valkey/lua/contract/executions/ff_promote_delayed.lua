-- Ends a delay that is due by the server's clock.
--   keys   core, lane delayed, lane eligible
--   args   execution_id, now_ms
--   reply  OK and promoted, not_yet_due, or why an entry of the delayed set was removed
server.register_function('ff_promote_delayed', function(KEYS, ARGV)
  local core_key, delayed_key = KEYS[1], KEYS[2]
  local execution_id, now_ms = ARGV[1], ARGV[2]

  local _, refused = arguments.number('now_ms', now_ms)
  if refused then return refused end
  local tag, id = contract.identify(core_key, execution_id)
  if not tag then return id end
  local x = contract.find(core_key)
  if not x then
    server.call('ZREM', keys.index(tag, 'delays'), id)
    if delayed_key then server.call('ZREM', delayed_key, id) end
    return reply.ok('not_found_cleaned')
  end
  local f = x.f
  if f.lifecycle_phase ~= 'runnable' or f.eligibility_state ~= 'not_eligible_until_time' then
    contract.clean(x, delayed_key)
    return reply.ok(f.lifecycle_phase ~= 'runnable' and 'not_runnable_cleaned'
      or 'not_delayed_cleaned')
  end
  if tonumber(f.delay_until) > x.now then return reply.ok('not_yet_due') end

  execution.become_waiting(x)
  contract.save(x, 'promoted')
  return reply.ok('promoted')
end)
