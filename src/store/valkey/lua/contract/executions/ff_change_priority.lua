-- Changes the priority of an execution that waits.
--   keys   core, lane eligible
--   args   execution_id, new_priority
--   reply  OK priority_before priority_after
server.register_function('ff_change_priority', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, new_priority = ARGV[1], ARGV[2]

  local priority, refused = arguments.priority('new_priority', new_priority)
  if not priority then return refused end
  local x
  x, refused = contract.load(core_key, id)
  if not x then return refused end
  if x.f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_eligible') end

  local before = x.f.priority or '0'
  execution.put(x, {priority = priority, last_mutation_at = x.now})
  contract.save(x, 'priority_changed')
  return reply.ok(before, priority)
end)
