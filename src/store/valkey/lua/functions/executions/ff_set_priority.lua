-- Changes the priority of an execution that has not ended.
--   keys   core
--   args   now, origin, priority
--   reply  OK event priority_before
commands.register('ff_set_priority', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, priority = ARGV[1], ARGV[2], ARGV[3]

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local before = x.f.priority or '0'
  if x.f.lifecycle_phase == 'terminal' then
    return reply.refuse('execution_not_eligible', x.f.public_state)
  end
  if tonumber(before) == tonumber(priority) then return reply.ok('', before) end

  execution.put(x, {priority = priority, last_mutation_at = x.at})
  execution.save(x)
  return reply.ok(events.tell(x, 'priority_changed', origin), before)
end)
