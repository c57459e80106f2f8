-- Lets an execution start whose dependencies are all satisfied.
--   keys   exec core, lane blocked:dependencies, lane eligible, deps:meta, deps:unresolved
--   args   execution_id, now_ms
--   reply  OK
server.register_function('ff_promote_blocked_to_eligible', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id = ARGV[1]

  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  local f = x.f
  if f.lifecycle_phase ~= 'runnable' then return reply.refuse('not_runnable') end
  if f.eligibility_state ~= 'blocked_by_dependencies' then return reply.refuse('not_blocked_by_deps') end
  if f.terminal_outcome ~= 'none' then return reply.refuse('terminal') end
  local open, unresolved = contract_edges.open(x)
  if open or flow_edges.verdict(f) == 'skip' then
    local unsatisfied = server.call('HGET', contract_edges.deps_key(x, 'meta'), 'unsatisfied_required_count')
    return reply.refuse('deps_not_satisfied', unsatisfied or '0', tostring(unresolved))
  end

  flows.make_free(x)
  contract.save(x, 'promoted')
  return reply.ok()
end)
