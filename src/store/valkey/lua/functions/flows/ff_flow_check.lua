-- Counts the nodes of a flow, one slice of them. The last slice repairs the counters of the flow, if it has not changed
-- since the first one. A walk whose effect is lost gets another one. The last slice writes the summary of a flow that
-- a program of the contract made. A flow that has ended, or is gone, leaves the index.
--   keys   flow core
--   args   now, origin, first (node, from 0), version (of the flow, as the first slice told it), failures, then state
--          and count of each state: of the nodes before
--   reply  OK events repaired next (empty at the end) version failures states (flat: state, count)
local nodes_max = 100
local ends = {'completed', 'failed', 'cancelled', 'expired', 'skipped'}

local function read_tally(ARGV, first)
  local states = {}
  for i = first, #ARGV, 2 do states[ARGV[i]] = tonumber(ARGV[i + 1]) end
  return states
end

-- Returns how many were counted.
local function count_nodes(flow, ids, tally)
  local counted = 0
  for _, id in ipairs(ids) do
    local core = server.call('HMGET', keys.of_execution(flow.tag, id, 'core'), 'public_state', 'is_optional',
      'as_rest', 'flow_id')
    local state = core[1]
    if state and core[4] == flow.id then
      counted = counted + 1
      tally.states[state] = (tally.states[state] or 0) + 1
      local fails = flows.fails({is_optional = core[2] or nil, as_rest = core[3] or nil}, state)
      if fails then tally.failures = tally.failures + 1 end
    end
  end
  return counted
end

local function total_of(states)
  local total = 0
  for _, count in pairs(states) do total = total + count end
  return total
end

-- True if the counters of the flow were wrong.
local function repair_counters(flow, tally)
  local right = {node_count = total_of(tally.states), failures = tally.failures}
  for _, state in ipairs(ends) do right[state] = tally.states[state] or 0 end
  local repaired = false
  for field, count in pairs(right) do
    if flows.count(flow, field) ~= count then
      flows.put(flow, {[field] = count})
      repaired = true
    end
  end
  return repaired
end

-- ---- The summary that programs of the contract read -----------------------------------------------

local of_summary = {
  'completed', 'failed', 'cancelled', 'expired', 'skipped', 'active', 'suspended', 'waiting', 'delayed',
  'rate_limited', 'waiting_children',
}
local waiting_states = {'suspended', 'delayed', 'rate_limited', 'waiting_children'}

local function any(states, names)
  for _, name in ipairs(names) do
    if (states[name] or 0) > 0 then return true end
  end
  return false
end

local function state_in_summary(flow, states, has_ended)
  if has_ended then
    if flow.f.public_flow_state == 'cancelled' then return 'cancelled' end
    return any(states, {'failed', 'cancelled', 'expired'}) and 'failed' or 'completed'
  end
  return any(states, {'active'}) and 'running' or any(states, waiting_states) and 'blocked' or 'open'
end

local function write_summary(flow, states)
  local total, counted, ended = server.call('SCARD', keys.flow(flow.tag, flow.id, 'members')), total_of(states), 0
  if total == 0 then return end
  for _, state in ipairs(ends) do ended = ended + (states[state] or 0) end
  local has_ended = counted > 0 and ended == counted
  local summary = {
    'total_members', total, 'sampled_members', counted, 'last_summary_update_at', flow.at,
    'public_flow_state', state_in_summary(flow, states, has_ended),
  }
  for _, state in ipairs(of_summary) do
    summary[#summary + 1], summary[#summary + 2] = 'members_' .. state, states[state] or 0
  end
  server.call('HSET', keys.flow(flow.tag, flow.id, 'summary'), unpack(summary))
  if has_ended and counted == total then server.call('SREM', keys.index(flow.tag, 'flow_index'), flow.id) end
end

-- ---------------------------------------------------------------------------------------------------

local function answer(flow, events_told, repaired, next_place, tally)
  local flat = {}
  for state, count in pairs(tally and tally.states or {}) do flat[#flat + 1], flat[#flat + 2] = state, tostring(count) end
  return reply.ok(events_told, tostring(repaired), tostring(next_place or ''), tostring(flow.f.v or 0),
    tostring(tally and tally.failures or 0), flat)
end

-- Its nodes are still to be brought in line; that is the work of an effect.
local function check_walk(flow, origin)
  local effect = 'advance_flow ' .. flow.id
  if effects.has(flow.tag, effect) then return answer(flow, '', 0) end
  effects.add_all(flow.tag, {effect})
  local draft = flow_draft.begin(flow)
  draft.effects = {effect}
  return answer(flow, events.tell_flow(draft, origin), 1)
end

commands.register('ff_flow_check', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, first, version = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
  local tally = {failures = tonumber(ARGV[5]), states = read_tally(ARGV, 6)}

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.load(tag, id, arguments.now(now))
  if flow and flow.f.walk then return check_walk(flow, origin) end
  if not flow or flow.f.ended_at then server.call('SREM', keys.index(tag, 'flow_index'), id) end
  if not flow then return answer({f = {}}, '', 0) end
  local of_contract = flows.is_of_contract(flow)
  if flow.f.ended_at and not of_contract then return answer(flow, '', 0) end
  if first > 0 and not of_contract and version ~= tostring(flow.f.v or 0) then return answer(flow, '', 0) end

  local ids = flows.members(flow, first, nodes_max)
  local counted = count_nodes(flow, ids, tally)
  if #ids == nodes_max then return answer(flow, '', 0, first + nodes_max, tally) end
  if of_contract then
    write_summary(flow, tally.states)
    return answer(flow, '', 0)
  end
  local draft = flow_draft.begin(flow)
  local repaired = counted == #ids and repair_counters(flow, tally)
  flow_draft.finish(draft)
  return answer(flow, events.tell_flow(draft, origin), repaired and 1 or 0)
end)
