-- Resumes a suspended execution, as operators do.
--   keys   core, suspension:current, waitpoint, its signals, suspension_timeout, lane eligible, lane delayed,
--          lane suspended
--   args   execution_id, trigger_type (not used), resume_delay_ms
--   reply  OK public_state
-- A condition with allow_operator_override false is left to its signals and its timeout.
local function refusal(x, waits)
  if x.f.lifecycle_phase ~= 'suspended' or not suspending.is_suspension_open(waits) then
    return reply.refuse('execution_not_suspended')
  end
  local condition = policy.decode(waits.suspension.resume_condition_json or '')
  if condition and condition.allow_operator_override == false then
    return reply.refuse('invalid_input', 'the resume condition does not allow an operator override')
  end
end

server.register_function('ff_resume_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, delay_text = ARGV[1], ARGV[3]

  local delay, refused = arguments.optional_number('resume_delay_ms', delay_text, 0, arguments.duration_max)
  if refused then return refused end
  local x
  x, refused = contract.load(core_key, id)
  if not x then return refused end
  local waits = suspending.load(x)
  refused = refusal(x, waits)
  if refused then return refused end

  suspending.resume(waits, 'operator', 'resumed', delay or 0)
  suspending.save(waits)
  contract.save(x, 'resumed')
  return reply.ok(x.f.public_state)
end)
