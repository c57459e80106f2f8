-- Bringing an execution into being.
local creation = {}

local pairs_max = 1000  -- that one command is given at once

-- Its core: `fields`, when it was created, and the state that it begins in.
function creation.begin(x, fields, delay_until)
  fields.created_at = created.next_time(x.tag, fields.namespace, x.now)
  execution.put(x, fields)
  if delay_until and delay_until > x.now then
    execution.become_delayed(x, delay_until, 'waiting_for_delay', 'pending_first_attempt')
  else
    execution.become_waiting(x, 'pending_first_attempt')
  end
end

-- `list` has key and value of each, from its place `first` on.
function creation.set_tags(x, list, first)
  if not list[first] then return end
  local key = keys.of_execution(x.tag, x.id, 'tags')
  for i = first, #list, 2 * pairs_max do
    server.call('HSET', key, unpack(list, i, math.min(i + 2 * pairs_max - 1, #list)))
  end
end

-- Remembers it by its idempotency key; for ever if `ms` is nil.
function creation.remember(x, key, ms)
  if ms then
    server.call('SET', key, x.id, 'PX', ms)
  else
    server.call('SET', key, x.id)
  end
end

-- Writes the core, and what belongs to it beside the core. `raw` is created.raw_of its id.
function creation.write(x, payload, policy_json, raw)
  execution.save(x)
  if payload ~= '' then server.call('SET', keys.of_execution(x.tag, x.id, 'payload'), payload) end
  if policy_json ~= '' then server.call('SET', keys.of_execution(x.tag, x.id, 'policy'), policy_json) end
  created.add(x.tag, x.f.namespace, x.f.created_at, raw)
  totals.add(x.tag, placement.queue(x.f), 'all', 1)
end

return creation
