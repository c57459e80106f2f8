-- The ways in which attempts and executions end.
local ending = {}

-- Leaves it to events.tell to publish the end of a member of a flow.
local function announce(x, outcome)
  if x.f.flow_id then x.flow_outcome = outcome end
end

-- `keeps_lease`: its fields stay, as those of a folded attempt do. `closing`: why a suspension is closed by that. Our own programs see it by the execution's state.
local function finish(x, outcome, closing, keeps_lease)
  if x.by_contract and closing then suspending.close_all(x, closing) end
  if x.f.grant_expires_at then server.call('DEL', keys.of_execution(x.tag, x.id, 'claim_grant')) end
  if not keeps_lease then leases.clear(x) end
  execution.become_ended(x, outcome)
end

local of_a_failure = {'failure_reason', 'failure_category'}

function ending.complete(x, result, content_type)
  local stays_folded = folded.is(x.f) and not x.by_contract and not x.f.has_attempt_streams
  if not stays_folded then attempts.finish(x, {state = 'ended_success', stream = 'attempt_success'}) end
  finish(x, 'success', nil, stays_folded)
  execution.drop_all(x, of_a_failure)
  if content_type then execution.put(x, {result_content_type = content_type}) end
  if result then server.call('SET', keys.of_execution(x.tag, x.id, 'result'), result) end
  announce(x, 'success')
end

-- A node that the engine runs has no attempt of its own.
function ending.complete_node(x, result, content_type)
  finish(x, 'success')
  if content_type then execution.put(x, {result_content_type = content_type}) end
  if result then server.call('SET', keys.of_execution(x.tag, x.id, 'result'), result) end
  announce(x, 'success')
end

function ending.fail_node(x, reason, category)
  finish(x, 'failed')
  execution.put(x, {failure_reason = reason, failure_category = category})
  announce(x, 'failed')
end

-- The attempt failed for good.
function ending.fail(x, reason, category)
  attempts.finish(x, {
    state = 'ended_failure', reason = reason, category = category, stream = 'attempt_failure',
  })
  finish(x, 'failed')
  execution.put_text(x, 'failure_reason', reason)
  execution.put_text(x, 'failure_category', category)
  announce(x, 'failed')
end

-- The attempt failed, and another one may begin at `at`.
function ending.retry(x, reason, category, at, lease_end)
  attempts.finish(x, {
    state = 'ended_failure', reason = reason, category = category, retry_at = at,
    lease_end = lease_end, stream = lease_end == 'timed_out' and 'expired' or 'attempt_failure',
  })
  local failed_index = folded.index(x.f)
  leases.clear(x)
  execution.put(x, {retry_count = execution.count(x, 'retry_count') + 1})
  if at > x.now then
    execution.become_delayed(x, at, 'waiting_for_retry_backoff', 'pending_retry_attempt')
  else
    execution.become_waiting(x, 'pending_retry_attempt')
  end
  execution.put(x, {pending_previous_attempt_index = failed_index})
  execution.put_text(x, 'failure_reason', reason)
  execution.put_text(x, 'pending_retry_reason', reason)
  execution.drop(x, 'current_attempt_id')
end

function ending.cancel(x, reason, cancelled_by, announced)
  local why = 'cancelled: ' .. reason
  if attempts.is_open(x) then
    attempts.finish(x, {state = 'ended_cancelled', reason = why, stream = 'attempt_cancelled'})
  end
  finish(x, 'cancelled', 'cancelled')
  execution.put(x, {cancelled_by = cancelled_by})
  execution.put_text(x, 'cancellation_reason', reason)
  if announced then announce(x, 'cancelled') end
end

-- Its flow ends a node: cancelled or skipped.
function ending.end_node(x, outcome, reason)
  if attempts.is_open(x) then
    local stream = outcome == 'skipped' and reason or 'attempt_cancelled'
    attempts.finish(x, {state = 'ended_cancelled', reason = reason, stream = stream})
  end
  finish(x, outcome, 'cancelled')
  if outcome == 'cancelled' then
    execution.put(x, {cancelled_by = 'flow_cascade', cancellation_reason = reason})
  else
    execution.put(x, {failure_reason = reason})
  end
  announce(x, outcome)
end

-- Too many workers let its lease run out.
function ending.give_up(x)
  local lost = execution.count(x, 'lease_reclaim_count') + 1
  finish(x, 'failed')
  execution.put(x, {
    failure_reason = 'max_reclaims_exceeded: ' .. lost .. ' workers let its lease run out',
    failure_category = 'infra_crash',
  })
  announce(x, 'failed')
end

-- A deadline or an attempt's time is over.
function ending.expire(x, reason)
  if attempts.is_open(x) then
    attempts.finish(x, {
      state = 'ended_failure', reason = reason, category = 'timeout',
      lease_end = x.f.lifecycle_phase == 'active' and 'timed_out' or nil, stream = 'expired',
    })
  end
  finish(x, 'expired', 'expired:' .. reason)
  execution.put(x, {failure_reason = reason})
  announce(x, 'expired')
end

-- The running attempt took too long: it counts as failed. Tells what came of it.
function ending.time_out(x)
  local at = policy.retry_at(x, policy.table(policy.of(x), 'retry_policy'), 'timeout')
  if not at then
    ending.expire(x, 'attempt_timeout')
    return 'expired'
  end
  ending.retry(x, 'attempt_timeout', 'timeout', at, 'timed_out')
  return 'retry_scheduled'
end

-- ---- Timeouts of suspensions -----------------------------------------------------------------------

local endings_by_timeout = {
  cancel = {outcome = 'cancelled', attempt = 'ended_cancelled'},
  expire = {outcome = 'expired', attempt = 'ended_failure'},
}
local failure_by_timeout = {outcome = 'failed', attempt = 'ended_failure'}

-- Words of the contract that say the same.
local behavior_of = {auto_resume_with_timeout_signal = 'auto_resume'}

local function end_by_timeout(x, waits, behavior)
  local how = endings_by_timeout[behavior] or failure_by_timeout
  local reason = 'suspension_timeout:' .. behavior
  suspending.close(waits, 'timed_out_' .. (endings_by_timeout[behavior] and behavior or 'fail'))
  suspending.save(waits)
  attempts.finish(x, {
    state = how.attempt, reason = reason, category = 'timeout', stream = 'suspension_timeout',
  })
  finish(x, how.outcome)
  execution.put(x, {failure_reason = reason})
  if how.outcome == 'failed' then execution.put(x, {failure_category = 'timeout'}) end
  if how.outcome == 'cancelled' then execution.put(x, {cancellation_reason = reason}) end
  announce(x, how.outcome)
  return how.outcome
end

-- The timeout of the suspension has passed. Returns the event, and the behaviour.
function ending.time_out_suspension(x)
  local waits = suspending.load(x)
  local stored = waits.suspension.timeout_behavior or ''
  local behavior = behavior_of[stored] or stored
  if behavior == 'auto_resume' then
    suspending.resume(waits, 'timeout', 'timed_out_auto_resume', 0)
    suspending.save(waits)
    return 'resumed', behavior
  elseif behavior == 'escalate' then
    suspending.escalate(waits)
    suspending.save(waits)
    return 'escalated', behavior
  end
  return end_by_timeout(x, waits, behavior), behavior
end

return ending
