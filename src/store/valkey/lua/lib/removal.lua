-- Removing an execution with everything that belongs to it. The lists below are the only ones of an execution's
-- keys; entries of indexes follow from lib/placement.lua.
local removal = {}

-- Each is keys.of_execution(tag, id, part). The contract's programs may have written those that we do not.
local parts_of_execution = {
  'core', 'payload', 'result', 'policy', 'tags', 'claim_grant', 'lease:current', 'lease:history',
  'attempts',
}

-- Each is keys.attempt(tag, id, index) .. part.
local parts_of_attempt = {'', ':usage', ':policy'}

local keys_max = 1000  -- in one command

-- Calls visit(key) for each key that belongs to the execution alone.
local function each_key(x, visit)
  for _, part in ipairs(parts_of_execution) do visit(keys.of_execution(x.tag, x.id, part)) end
  for index = 0, execution.count(x, 'total_attempt_count') - 1 do
    local attempt = keys.attempt(x.tag, x.id, index)
    for _, part in ipairs(parts_of_attempt) do visit(attempt .. part) end
  end
end

local function unlink_keys(x)
  local gone = {}
  each_key(x, function(key)
    gone[#gone + 1] = key
    if #gone == keys_max then
      server.call('UNLINK', unpack(gone))
      gone = {}
    end
  end)
  if #gone > 0 then server.call('UNLINK', unpack(gone)) end
end

-- The key may belong to a later execution by now.
local function forget_idempotency_key(x)
  if not x.f.idempotency_key then return end
  local key = keys.idempotency(x.tag, x.f.namespace, x.f.idempotency_key)
  if server.call('GET', key) == x.id then server.call('DEL', key) end
end

-- Removes an ended execution. `x` keeps its fields.
function removal.remove(x)
  local queue = placement.queue(x.f)
  effects.add_forget(x)
  unlink_keys(x)
  forget_idempotency_key(x)
  placement.move(x.tag, queue, x.id, x.places, {})
  server.call('SREM', keys.index(x.tag, 'all_executions'), x.id)
  created.forget(x)
  totals.add_ended(x.tag, queue, x.ended_as, -1)
  if totals.add(x.tag, queue, 'all', -1) == 0 then
    server.call('DEL', waiting.key(x.tag, queue))
  end
end

return removal
