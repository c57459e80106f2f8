-- KEYS: core. ARGV: now, origin, 3 priority. Replies OK event before.
commands.register('ff_set_priority', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local before = x.f.priority or '0'
  if x.f.lifecycle_phase == 'terminal' then
    return reply.refuse('execution_not_eligible', x.f.public_state)
  end
  if tonumber(before) == tonumber(ARGV[3]) then return reply.ok('', before) end
  execution.put(x, {priority = ARGV[3], last_mutation_at = x.at})
  execution.save(x)
  return reply.ok(events.tell(x, 'priority_changed', ARGV[2]), before)
end)
