-- Of an execution that waits, for whatever. KEYS: 1 core, 2 lane eligible. ARGV: 1 execution_id,
-- 2 new_priority. Replies OK and the priority before and after.
server.register_function('ff_change_priority', function(KEYS, ARGV)
  local priority, refused = arguments.priority('new_priority', ARGV[2])
  if not priority then return refused end
  local x
  x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  if x.f.lifecycle_phase ~= 'runnable' then return reply.refuse('execution_not_eligible') end

  local before = x.f.priority or '0'
  execution.put(x, {priority = priority, last_mutation_at = x.now})
  contract.save(x, 'priority_changed')
  return reply.ok(before, priority)
end)
