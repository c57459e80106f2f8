-- Removes a budget with everything that belongs to it.
--   keys   budget
--   args   now, call (its id; older programs leave it out)
--   reply  OK
-- Repeated with the same call, it replies as the first time.
commands.register('ff_budget_delete', function(KEYS, ARGV)
  local key, now, call = KEYS[1], arguments.now(ARGV[1]), ARGV[2]

  local call_key = call and budgets.call_key(budgets.parse(key), call)
  local b = budgets.load(key, now)
  if not b then
    local is_repeated = call_key and server.call('EXISTS', call_key) == 1
    return is_repeated and reply.ok() or reply.refuse('budget_not_found')
  end

  budgets.remove(b)
  if call_key then server.call('SET', call_key, '', 'PX', budgets.call_ms) end
  budgets.tell_opening(b)
  return reply.ok()
end)
