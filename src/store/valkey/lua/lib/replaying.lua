-- Running an execution that has ended once more, from the start.
local replaying = {}

local of_a_run = {
  'has_waits', 'waitpoints', 'waitpoint_expiry', 'signal_count', 'first_uncounted', 'wake', 'step_count',
  'step_bytes',
}

-- A new run: it queues behind what waits already, and has as much time as the first one had.
function replaying.start(x, reason, requested_by)
  local f = x.f
  leases.clear(x)
  execution.put(x, {
    replay_count = execution.count(x, 'replay_count') + 1,
    pending_replay_reason = reason,
    pending_replay_requested_by = requested_by,
    pending_replay_at = x.now,
  })
  if f.deadline then
    execution.put(x, {deadline = x.now + (f.deadline - (f.queued_at or f.created_at))})
  end
  execution.put(x, {queued_at = x.now})
  execution.drop(x, 'retry_count', 'lease_reclaim_count', 'completed_at', 'failure_reason',
    'failure_category', 'cancellation_reason', 'cancelled_by', 'result_content_type')
  execution.become_waiting(x, 'pending_replay_attempt')
  server.call('DEL', keys.of_execution(x.tag, x.id, 'result'))
  removal.unlink_waits(x)
  execution.drop_all(x, of_a_run)
end

return replaying
