-- The first attempt of an execution needs no hash of its own while our own engine runs it and nothing has happened to
-- it but its lease, and at last its end in success: the core says everything of it. It is folded then. The core of
-- such an execution has no current_attempt_index, which is 0, and it is not in lane:active. It keeps its lease when it
-- has completed. Whatever else happens unfolds the attempt (attempts.unfold).
local folded = {}

function folded.is(f)
  return f.total_attempt_count ~= nil and f.current_attempt_index == nil
end

-- The index of the newest attempt; nil if there was none.
function folded.index(f)
  return f.current_attempt_index or f.total_attempt_count and '0'
end

-- The changes of an execution whose first two were the lease and the end of its folded attempt: it needs no `v`. nil if it
-- has no folded attempt.
function folded.version(f)
  if not folded.is(f) then return nil end
  return f.lifecycle_phase == 'terminal' and 2 or 1
end

-- What the hash of a folded attempt would have: field, value, …
function folded.record(f)
  local has_ended = f.lifecycle_phase == 'terminal'
  local record = {
    'attempt_id', f.current_attempt_id, 'attempt_index', '0', 'attempt_type', 'initial', 'attempt_state',
    has_ended and 'ended_success' or 'started', 'started_at', f.started_at, 'lease_id', f.current_lease_id,
    'lease_epoch', f.current_lease_epoch, 'worker_id', f.current_worker_id,
  }
  if has_ended then record[#record + 1], record[#record + 2] = 'ended_at', f.completed_at end
  return record
end

return folded
