-- The newest suspension of an execution, and its waitpoints.
--   keys   core
--   args   now
--   reply  OK ended (1 or 0) fields (of the suspension; empty: never suspended) sizes (how much has counted for
--          each part of the condition) state (for the handler), then of each waitpoint: [id, fields]
local shown = {
  'suspension_id', 'attempt_index', 'reason_code', 'created_at', 'condition', 'timeout_at',
  'timeout_behavior', 'escalated', 'closed_at', 'close_reason',
}

server.register_function{
  function_name = 'ff_get_suspension',
  callback = function(KEYS, ARGV)
    local core_key, now = KEYS[1], ARGV[1]

    local x = execution.load(core_key, arguments.now(now))
    if not x then return reply.refuse('execution_not_found') end
    local waits = suspending.load(x)
    local suspension, fields, sizes, state = waits.suspension, {}, {}, ''
    if suspension then
      sizes = suspending.sizes(waits)
      state = server.call('GET', keys.suspension(x) .. ':state') or ''
      for _, field in ipairs(shown) do
        if suspension[field] then
          fields[#fields + 1] = field
          fields[#fields + 1] = suspension[field]
        end
      end
      fields[#fields + 1] = 'waitpoints'
      fields[#fields + 1] = suspension.waitpoints or ''
    end
    local answer = reply.ok(x.f.lifecycle_phase == 'terminal' and '1' or '0', fields, sizes, state)
    for _, waitpoint in ipairs(waits.waitpoints) do answer[#answer + 1] = suspending.shown(waitpoint) end
    return answer
  end,
  flags = {'no-writes'},
}
