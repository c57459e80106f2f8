-- The ways in which a worker gives an execution back without ending its attempt.
local pausing = {}

local function has_open_dependencies(x)
  if x.f.flow_id and flow_edges.verdict(x.f) ~= 'ready' then return true end
  return server.call('SCARD', keys.of_execution(x.tag, x.id, 'deps:unresolved')) > 0
end

function pausing.delay(x, due)
  execution.become_delayed(x, due, 'waiting_for_delay', 'attempt_interrupted')
  execution.put(x, {blocking_detail = string.format('delayed until %.0f', due)})
end

-- The remaining time of the attempt is kept for the worker that resumes it.
function pausing.keep_time_left(x)
  local deadline = x.f.attempt_deadline_at
  if deadline then execution.put(x, {attempt_left_ms = math.max(deadline - x.now, 1)}) end
end

function pausing.pause(x, how, due, reason)
  local waits_for_children = how == 'waiting_children' and has_open_dependencies(x)
  pausing.keep_time_left(x)
  attempts.pause(x, how, reason)
  leases.clear(x)
  if how == 'worker_delay' and due > x.now then
    pausing.delay(x, due)
  elseif waits_for_children then
    execution.become_waiting_children(x, 'attempt_interrupted')
  else
    execution.become_waiting(x, 'attempt_interrupted')
  end
end

return pausing
