-- Forgetting an execution with all that belongs to it.
local removal = {}

local parts = {
  'core', 'payload', 'result', 'policy', 'tags', 'claim_grant', 'lease:current', 'lease:history',
  'attempts',
}

function removal.forget(x)
  local f, gone = x.f, {}
  effects.add_forget(x)
  for _, part in ipairs(parts) do gone[#gone + 1] = keys.of_execution(x.tag, x.id, part) end
  for index = 0, execution.count(x, 'total_attempt_count') - 1 do
    local attempt = keys.attempt(x.tag, x.id, index)
    gone[#gone + 1] = attempt
    gone[#gone + 1] = attempt .. ':usage'
    gone[#gone + 1] = attempt .. ':policy'
    if #gone > 1000 then
      call('UNLINK', unpack(gone))
      gone = {}
    end
  end
  if #gone > 0 then call('UNLINK', unpack(gone)) end
  if f.idempotency_key then
    local remembered = keys.idempotency(x.tag, f.namespace, f.idempotency_key)
    if call('GET', remembered) == x.id then call('DEL', remembered) end
  end
  placement.move(x.tag, placement.queue(f), x.id, x.places, {})
  call('SREM', keys.index(x.tag, 'all_executions'), x.id)
  created.forget(x)
  totals.add_ended(x.tag, placement.queue(f), x.ended_as, -1)
  if totals.add(x.tag, placement.queue(f), 'all', -1) == 0 then
    call('DEL', waiting.key(x.tag, placement.queue(f)))
  end
end
