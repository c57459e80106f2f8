-- Shared code of the functions of the contract. These name the execution twice, in KEYS[1] and in
-- an argument; all other keys follow from the first and from the core, whatever KEYS say.
local contract = {}

-- Tag and id of the execution, or nil and the refusal.
function contract.identify(core_key, id)
  local tag, named = keys.parse_core(core_key or '')
  if not named or named ~= id then
    return nil, reply.refuse('invalid_input',
      'execution_id must be the one in the core key, got: ' .. tostring(id))
  end
  return tag, id
end

-- The execution; nil if there is none.
function contract.find(core_key)
  local x = execution.load(core_key, arguments.now())
  if x then x.by_contract = true end
  return x
end

-- The execution, or nil and the refusal.
function contract.load(core_key, id)
  local tag, refused = contract.identify(core_key, id)
  if not tag then return nil, refused end
  local x = contract.find(core_key)
  if not x then return nil, reply.refuse('execution_not_found') end
  return x
end

-- Tag of the flow, or nil and the refusal.
function contract.identify_flow(core_key, flow_id)
  local tag, named = keys.parse_flow(core_key or '')
  if not named or named ~= flow_id then
    return nil, reply.refuse('invalid_input',
      'flow_id must be the one in the core key, got: ' .. tostring(flow_id))
  end
  return tag
end

-- A flow that has not ended, or nil and the refusal.
function contract.load_open_flow(core_key, flow_id)
  local tag, refused = contract.identify_flow(core_key, flow_id)
  if not tag then return nil, refused end
  local flow = flows.load(tag, flow_id, arguments.now())
  if not flow then return nil, flows.not_found() end
  if flows.has_state_of_end(flow) then return nil, reply.refuse('flow_already_terminal') end
  return flow
end

function contract.tell_flow(flow, event)
  events.tell_flow({flow = flow, order = {}, effects = {}, event = event}, '')
end

function contract.save(x, event)
  execution.save(x)
  events.tell(x, event, '')
end

function contract.not_active(x)
  local f = x.f
  return reply.refuse('execution_not_active', f.terminal_outcome, f.current_lease_epoch or '0',
    f.lifecycle_phase, f.current_attempt_id or '')
end

function contract.is_ready(x)
  return x.f.lifecycle_phase == 'runnable' and x.f.eligibility_state == 'eligible_now'
end

function contract.is_lost(x)
  return x.f.lifecycle_phase == 'active' and (x.f.ownership_state == 'lease_expired_reclaimable'
    or x.f.ownership_state == 'lease_revoked')
end

-- Removes an index entry that should not be there.
function contract.clean(x, key)
  if not key then return end
  local belongs = false
  placement.each(x.tag, placement.queue(x.f), x.places, function(place)
    belongs = belongs or place == key
  end)
  if not belongs then server.call('ZREM', key, x.id) end
end

return contract
