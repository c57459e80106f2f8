-- Ends a delay that is due by the server's clock. KEYS: 1 core, 2 lane delayed, 3 lane eligible. ARGV:
-- 1 execution_id, 2 now_ms. Replies OK and promoted, not_yet_due, or why an entry of the delayed set
-- was removed.
server.register_function('ff_promote_delayed', function(KEYS, ARGV)
  local _, refused = arguments.number('now_ms', ARGV[2])
  if refused then return refused end
  local tag, id = contract.identify(KEYS[1], ARGV[1])
  if not tag then return id end
  local x = contract.find(KEYS[1])
  if not x then
    call('ZREM', keys.index(tag, 'delays'), id)
    if KEYS[2] then call('ZREM', KEYS[2], id) end
    return reply.ok('not_found_cleaned')
  end
  local f = x.f
  if f.lifecycle_phase ~= 'runnable' or f.eligibility_state ~= 'not_eligible_until_time' then
    contract.clean(x, KEYS[2])
    return reply.ok(f.lifecycle_phase ~= 'runnable' and 'not_runnable_cleaned'
      or 'not_delayed_cleaned')
  end
  if tonumber(f.delay_until) > x.now then return reply.ok('not_yet_due') end

  execution.become_waiting(x)
  contract.save(x, 'promoted')
  return reply.ok('promoted')
end)
