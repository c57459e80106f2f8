-- Removing an execution with everything that belongs to it. The lists below are the only ones of an execution's
-- keys; entries of indexes follow from lib/placement.lua.
local removal = {}

-- Each is keys.of_execution(tag, id, part). The contract's programs may have written those that we do not.
local parts_of_execution = {
  'core', 'payload', 'result', 'policy', 'tags', 'claim_grant', 'lease:current', 'lease:history',
  'attempts',
}

-- Likewise, of a node.
local parts_of_node = {'edges_from', 'edges_to', 'inputs'}

-- Each is keys.attempt(tag, id, index) .. part.
local parts_of_attempt = {'', ':usage', ':policy'}

-- Likewise, if programs of the contract wrote to streams of attempts.
local parts_of_streamed_attempt = {':summary'}

-- Each is keys.stream(tag, id, index) .. part.
local parts_of_stream = {'', ':meta', ':ids:summary', ':ids:best_effort'}

local keys_max = 1000  -- in one command

-- Calls visit(key) for each key that belongs to the execution alone.
local function each_key(x, visit)
  for _, part in ipairs(parts_of_execution) do visit(keys.of_execution(x.tag, x.id, part)) end
  if x.f.flow_id then
    for _, part in ipairs(parts_of_node) do visit(keys.of_execution(x.tag, x.id, part)) end
  end
  for index = 0, execution.count(x, 'total_attempt_count') - 1 do
    local attempt = keys.attempt(x.tag, x.id, index)
    for _, part in ipairs(parts_of_attempt) do visit(attempt .. part) end
    if x.f.has_attempt_streams then
      for _, part in ipairs(parts_of_streamed_attempt) do visit(attempt .. part) end
      local stream = keys.stream(x.tag, x.id, index)
      for _, part in ipairs(parts_of_stream) do visit(stream .. part) end
    end
  end
end

-- Calls visit(key) for each key of the execution's waitpoints, suspension, signals and steps.
local function each_key_of_waits(x, visit)
  if execution.count(x, 'step_count') > 0 then
    visit(keys.of_execution(x.tag, x.id, 'steps'))
    visit(keys.of_execution(x.tag, x.id, 'step_results'))
  end
  if not x.f.has_waits then return end
  local waitpoints, suspension = keys.of_execution(x.tag, x.id, 'waitpoints'), keys.suspension(x)
  local ids, pending = server.call('SMEMBERS', waitpoints), keys.index(x.tag, 'pending_waitpoint_expiry')
  for i = 1, #ids, keys_max do
    server.call('ZREM', pending, unpack(ids, i, math.min(i + keys_max - 1, #ids)))
  end
  for id in string.gmatch(x.f.waitpoints or '', '[^\31]+') do ids[#ids + 1] = id end
  for _, id in ipairs(ids) do
    local key = keys.waitpoint(x.tag, id)
    visit(key)
    visit(key .. ':condition')
    visit(key .. ':signals')
  end
  for _, id in ipairs(server.call('ZRANGE', keys.signals(x), 0, -1)) do
    local key = keys.signal(x.tag, id)
    local at = server.call('HMGET', key, 'target_waitpoint_id', 'idempotency_key')
    if at[1] and at[2] then visit(keys.signal_dedup(x.tag, at[1], at[2])) end
    visit(key)
    visit(key .. ':payload')
  end
  local idempotency_key = server.call('HGET', suspension, 'idempotency_key')
  if idempotency_key then visit(keys.suspend_dedup(x, idempotency_key)) end
  visit(keys.signals(x))
  visit(keys.passed_over(x))
  visit(keys.of_execution(x.tag, x.id, 'signal_keys'))
  visit(waitpoints)
  visit(suspension)
  visit(suspension .. ':state')
  visit(suspension .. ':satisfied_set:signals')
end

local function unlink_keys(x, each)
  local gone = {}
  each(x, function(key)
    gone[#gone + 1] = key
    if #gone == keys_max then
      server.call('UNLINK', unpack(gone))
      gone = {}
    end
  end)
  if #gone > 0 then server.call('UNLINK', unpack(gone)) end
end

-- Everything of its waitpoints, suspension, signals and steps.
function removal.unlink_waits(x)
  unlink_keys(x, each_key_of_waits)
end

-- The key may belong to a later execution by now.
local function forget_idempotency_key(x)
  if not x.f.idempotency_key then return end
  local key = keys.idempotency(x.tag, x.f.namespace, x.f.idempotency_key)
  if server.call('GET', key) == x.id then server.call('DEL', key) end
end

-- Set by lib/contract_edges.lua.
removal.leave_flow = nil

-- Removes an ended execution. `x` keeps its fields.
function removal.remove(x)
  if x.f.flow_id and not x.f.node_index then removal.leave_flow(x) end
  local queue = placement.queue(x.f)
  effects.add_forget(x)
  removal.unlink_waits(x)
  unlink_keys(x, each_key)
  unlink_keys(x, streams.each_key)
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
