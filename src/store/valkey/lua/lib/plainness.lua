-- Whether lib/plain.lua may take an execution: the core's field `plain` says so. It follows from the other fields.
local plainness = {}

-- An execution with another field is not plain.
local usual = [[
  namespace lane_id execution_kind digest created_at lifecycle_phase ownership_state eligibility_state
  terminal_outcome attempt_state public_state current_attempt_id total_attempt_count current_lease_id
  current_lease_epoch current_worker_id lease_expires_at started_at completed_at plain]]

-- One that has any of these is plain, and lib/plain.lua reads them, too.
plainness.options = {
  'queue', 'priority', 'deadline', 'retention_ms', 'content_type', 'traceparent', 'attempt_timeout_ms',
  'attempt_deadline_at', 'budget_ids', 'quota_policy_id', 'admission', 'has_tags', 'last_transition_at', 'flow_id', 'node',
  'blocking_reason', 'v',
}

-- They mean nothing to it.
local ignored = [[
  max_signals result_content_type node_index spawned_in from to edges_in edges_out satisfied impossible needed
  is_optional is_finalizer cancel_rest]]

plainness.usual, plainness.with_options = '1', '2'

local is_known, is_option

local function find_sets()
  is_known, is_option = {}, {}
  for field in string.gmatch(usual .. ignored, '%S+') do is_known[field] = true end
  for _, field in ipairs(plainness.options) do is_option[field] = true end
  for _, field in ipairs({'blocking_reason', 'v'}) do is_option[field], is_known[field] = nil, true end
end

-- What `plain` is to be; nil: the execution is not plain. `shows_usual`: one of the fields is stored that may be left out.
function plainness.of(f, shows_usual)
  if not is_known then find_sets() end
  local kind = shows_usual and plainness.with_options or plainness.usual
  for field in pairs(f) do
    if is_option[field] then
      kind = plainness.with_options
    elseif not is_known[field] then
      return nil
    end
  end
  return kind
end

return plainness
