-- Whether the dependencies of an execution let it start.
--   keys   exec core, deps:meta
--   args   none
--   reply  OK and not_found, not_runnable, owned, terminal, eligible, impossible or blocked_by_dependencies
local function judged(x, meta_key)
  if not x then return 'not_found' end
  local f = x.f
  if f.lifecycle_phase ~= 'runnable' then return 'not_runnable' end
  if f.ownership_state ~= 'unowned' then return 'owned' end
  if f.terminal_outcome ~= 'none' then return 'terminal' end
  if f.edges_in then
    local words = {ready = 'eligible', skip = 'impossible', wait = 'blocked_by_dependencies'}
    return words[flow_edges.verdict(f)]
  end
  local counts = server.call('HMGET', meta_key, 'impossible_required_count', 'unsatisfied_required_count')
  if tonumber(counts[1] or 0) > 0 then return 'impossible' end
  return tonumber(counts[2] or 0) > 0 and 'blocked_by_dependencies' or 'eligible'
end

server.register_function{
  function_name = 'ff_evaluate_flow_eligibility',
  callback = function(KEYS)
    local core_key, meta_key = KEYS[1], KEYS[2]
    return reply.ok(judged(contract.find(core_key), meta_key))
  end,
  flags = {'no-writes'},
}
