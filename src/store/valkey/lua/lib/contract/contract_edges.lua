-- Edges between executions that programs of the contract made: each is a hash of the flow (`edge`) and, once it is
-- applied, one of the node that it leads to (`dep`). The node's core counts them as those of our own flows
-- (edges_in, satisfied, impossible, needed), so that the same rules decide when it starts.
local contract_edges = {}

local function as_table(flat)
  local fields = {}
  for i = 1, #flat, 2 do
    if flat[i + 1] ~= '' then fields[flat[i]] = flat[i + 1] end
  end
  return fields
end

function contract_edges.dep_key(x, edge_id)
  return keys.of_execution(x.tag, x.id, 'dep:' .. edge_id)
end

function contract_edges.group_key(x)
  return x.f.flow_id and keys.flow(x.tag, x.f.flow_id, 'edgegroup:' .. x.id)
end

local function deps_key(x, what)
  return keys.of_execution(x.tag, x.id, 'deps:' .. what)
end
contract_edges.deps_key = deps_key

-- Empty if there is none.
function contract_edges.group(key)
  return key and as_table(server.call('HGETALL', key)) or {}
end

-- How many edges suffice, as the group says; nil: all.
function contract_edges.needed(group)
  if group.policy_variant == 'any_of' then return 1 end
  if group.policy_variant == 'quorum' then return math.max(tonumber(group.k) or 1, 1) end
end

-- Whether a node waits for edges, and how many are open.
function contract_edges.open(x)
  local unresolved = server.call('SCARD', deps_key(x, 'unresolved'))
  if x.f.edges_in then return flow_edges.verdict(x.f) == 'wait', unresolved end
  local open = tonumber(server.call('HGET', deps_key(x, 'meta'), 'unsatisfied_required_count') or 0)
  return open > 0 or unresolved > 0, unresolved
end

-- The edges that were applied to a node one by one, as records of lib/flow_edges.lua in the order of their ids; nil if
-- the node was submitted in a graph.
function contract_edges.records(x)
  if x.f.node then return nil end
  local ids, records = server.call('SMEMBERS', deps_key(x, 'all_edges')), {}
  table.sort(ids)
  for i, edge_id in ipairs(ids) do
    local upstream = server.call('HGET', contract_edges.dep_key(x, edge_id), 'upstream_execution_id')
    records[i] = flow_edges.pack_from(created.raw_of(x.tag, upstream), 's')
  end
  return table.concat(records)
end

-- ---- Resolving ------------------------------------------------------------------------------------

local bucket_of = {success = 'succeeded', skipped = 'skipped'}
local fired = {satisfied = true, impossible = true, cancelled = true}

-- The result of the node before becomes the payload, if the edge passes it on.
local function pass_data(x, dep)
  if not dep.data_passing_ref or flows.has_ended(x) then return '' end
  local result = keys.of_execution(x.tag, dep.upstream_execution_id, 'result')
  local copied = server.call('COPY', result, keys.of_execution(x.tag, x.id, 'payload'), 'REPLACE')
  return copied == 1 and 'data_injected' or ''
end

local function count(x, dep_key, is_satisfied, edge_id, at)
  server.call('HSET', dep_key, 'state', is_satisfied and 'satisfied' or 'impossible', 'last_resolved_at', at)
  server.call('SREM', deps_key(x, 'unresolved'), edge_id)
  local meta = deps_key(x, 'meta')
  server.call('HINCRBY', meta, 'unsatisfied_required_count', -1)
  if not is_satisfied then server.call('HINCRBY', meta, 'impossible_required_count', 1) end
  server.call('HSET', meta, 'last_dependency_update_at', at)
  local field = is_satisfied and 'satisfied' or 'impossible'
  if x.f.edges_in then execution.put(x, {[field] = execution.count(x, field) + 1}) end
end

-- The node starts if it waited; returns true if it did.
local function promote(x)
  if not flows.is_blocked(x) then return false end
  flows.make_free(x)
  x.event = 'promoted'
  return true
end

local function skip(x)
  if flows.has_ended(x) then return '' end
  local attempted = attempts.is_open(x)
  ending.end_node(x, 'skipped', 'dependency_impossible')
  if not attempted then execution.put(x, {attempt_state = 'none'}) end
  x.event = 'skipped'
  return 'child_skipped'
end

local function has_ended(x, id)
  local known = x.draft and x.draft.nodes[id]  -- its end may not be written yet
  if known then return flows.has_ended(known) end
  local phase = server.call('HGET', keys.of_execution(x.tag, id, 'core'), 'lifecycle_phase')
  return not phase or phase == 'terminal'
end

-- Whether another node waits for this one.
local function is_needed_by_others(x, id)
  local flow_id = x.f.flow_id
  for _, edge_id in ipairs(server.call('SMEMBERS', keys.flow(x.tag, flow_id, 'out:' .. id))) do
    local other = server.call('HGET', keys.flow(x.tag, flow_id, 'edge:' .. edge_id), 'downstream_execution_id')
    local state = other and other ~= x.id
      and server.call('HGET', keys.of_execution(x.tag, other, 'dep:' .. edge_id), 'state')
    if state == 'unsatisfied' then return true end
  end
  return false
end

-- The other nodes before a group that fired are to be cancelled, by whoever looks after such groups.
local function flag_siblings(x, group_key, state)
  local in_key = keys.flow(x.tag, x.f.flow_id, 'in:' .. x.id)
  local siblings, seen = {}, {}
  for _, edge_id in ipairs(server.call('SMEMBERS', in_key)) do
    local id = server.call('HGET', keys.flow(x.tag, x.f.flow_id, 'edge:' .. edge_id), 'upstream_execution_id')
    if id and not seen[id] and not has_ended(x, id) and not is_needed_by_others(x, id) then
      siblings[#siblings + 1] = id
    end
    if id then seen[id] = true end
  end
  server.call('HSET', group_key, 'cancel_siblings_pending_flag', 'true',
    'cancel_siblings_pending_members', table.concat(siblings, '|'),
    'cancel_siblings_reason', 'sibling_quorum_' .. state)
  server.call('SADD', keys.index(x.tag, 'pending_cancel_groups'), x.f.flow_id .. '|' .. x.id)
end

-- Resolves one edge of a group of which not all need to succeed. Returns the words of the reply.
local function resolve_in_group(x, dep, group_key, group, outcome, at)
  local bucket = bucket_of[outcome] or 'failed'
  local sum = (group.succeeded or 0) + (group.failed or 0) + (group.skipped or 0) + 1
  if sum > tonumber(group.n or 0) then
    return nil, reply.refuse('invariant_violation',
      string.format('edgegroup counters exceed n: %d/%s', sum, group.n or 0))
  end
  count(x, contract_edges.dep_key(x, dep.edge_id), outcome == 'success', dep.edge_id, at)
  server.call('HINCRBY', group_key, bucket, 1)
  if fired[group.group_state] then return 'already_fired', '' end
  local verdict = flow_edges.verdict(x.f)
  if verdict == 'wait' then return 'pending', '' end
  local state = verdict == 'ready' and 'satisfied' or 'impossible'
  server.call('HSET', group_key, 'group_state', state)
  if state == 'satisfied' then server.call('HSET', group_key, 'satisfied_at', at) end
  if group.on_satisfied == 'cancel_remaining' then flag_siblings(x, group_key, state) end
  if state == 'impossible' then return state, skip(x) end
  local passed = outcome == 'success' and pass_data(x, dep) or ''
  promote(x)
  return state, passed
end

local function resolve_all_of(x, dep, group_key, group, outcome, at)
  local is_satisfied = outcome == 'success'
  count(x, contract_edges.dep_key(x, dep.edge_id), is_satisfied, dep.edge_id, at)
  if group.policy_variant then
    server.call('HINCRBY', group_key, is_satisfied and 'succeeded' or bucket_of[outcome] or 'failed', 1)
  end
  local open, unresolved = contract_edges.open(x)
  local hopeless = not is_satisfied or flow_edges.verdict(x.f) == 'skip'
  if group.policy_variant and (hopeless or not open) then
    server.call('HSET', group_key, 'group_state', hopeless and 'impossible' or 'satisfied')
  end
  if not is_satisfied then return 'impossible', skip(x) end
  local passed = pass_data(x, dep)
  if not open and not hopeless and unresolved == 0 then promote(x) end
  return 'satisfied', passed
end

-- Resolves an edge into `x` with the outcome of the node before it. Returns the words of the reply, or nil and
-- the refusal. x.event tells what became of the node; it is not saved.
function contract_edges.resolve(x, edge_id, outcome, at)
  local dep = as_table(server.call('HGETALL', contract_edges.dep_key(x, edge_id)))
  if not dep.edge_id then return nil, reply.refuse('invalid_dependency') end
  if dep.state ~= 'unsatisfied' then return 'already_resolved' end
  local group_key = contract_edges.group_key(x)
  local group = contract_edges.group(group_key)
  if group.policy_variant == 'any_of' or group.policy_variant == 'quorum' then
    return resolve_in_group(x, dep, group_key, group, outcome, at)
  end
  return resolve_all_of(x, dep, group_key, group, outcome, at)
end

-- Resolves an edge into a node that is gone.
function contract_edges.resolve_without_node(tag, id, edge_id, outcome, at)
  local x = {tag = tag, id = id, f = {lifecycle_phase = 'terminal'}, changed = {}}
  local key = contract_edges.dep_key(x, edge_id)
  local state = server.call('HGET', key, 'state')
  if not state then return reply.refuse('invalid_dependency') end
  if state ~= 'unsatisfied' then return reply.ok('already_resolved') end
  count(x, key, outcome == 'success', edge_id, at or '')
  return reply.ok(outcome == 'success' and 'satisfied' or 'impossible', '')
end

-- The reply for an edge whose upstream has no outcome yet.
function contract_edges.left_open(x, edge_id)
  local state = server.call('HGET', contract_edges.dep_key(x, edge_id), 'state')
  if not state then return reply.refuse('invalid_dependency') end
  return state == 'unsatisfied' and reply.ok('pending', '') or reply.ok('already_resolved')
end

-- The edges out of a node that has ended. A node that runs again leaves the nodes after it as they are.
function flow_draft.align_contract_edges(draft, upstream, first)
  if not flows.has_ended(upstream) or draft.budget == 0 then
    return flows.has_ended(upstream) and first or nil
  end
  local flow = draft.flow
  local edges = server.call('SMEMBERS', keys.flow(flow.tag, flow.id, 'out:' .. upstream.id))
  table.sort(edges)
  local last = math.min(first + draft.budget, #edges)
  draft.budget = draft.budget - (last - first)
  for i = first + 1, last do
    local id = server.call('HGET', keys.flow(flow.tag, flow.id, 'edge:' .. edges[i]), 'downstream_execution_id')
    local x = id and flow_draft.node(draft, id)
    local had_ended = x and flows.has_ended(x)
    if x and contract_edges.resolve(x, edges[i], upstream.f.terminal_outcome, flow.at) and not had_ended then
      if flows.has_ended(x) then flow_draft.note_end(draft, x) else flow_draft.settle(draft, x) end
    end
  end
  if last < #edges then return last end
end

-- ---- Repairs --------------------------------------------------------------------------------------

-- Resolves edges into a node that waits whose upstream has ended, some of them, and lets the node go on if it waits
-- for nothing. Returns how many repairs. x.event tells what became of the node; it is not saved.
function contract_edges.check(x, edges_max)
  local repaired = 0
  for _, edge_id in ipairs(server.call('SRANDMEMBER', deps_key(x, 'unresolved'), edges_max)) do
    local upstream = server.call('HGET', contract_edges.dep_key(x, edge_id), 'upstream_execution_id')
    local before = server.call('HMGET', keys.of_execution(x.tag, upstream or '', 'core'), 'lifecycle_phase',
      'terminal_outcome')
    local outcome = before[1] == 'terminal' and before[2] or 'none'
    if outcome ~= 'none' and flows.is_blocked(x) and contract_edges.resolve(x, edge_id, outcome, x.at) then
      repaired = repaired + 1
    end
  end
  if not flows.is_blocked(x) or contract_edges.open(x) then return repaired end
  if flow_edges.verdict(x.f) == 'skip' then skip(x) else promote(x) end
  return repaired + 1
end

-- ---- Replay ---------------------------------------------------------------------------------------

-- Edges that made a node impossible are open again, and so is its group. Returns how many are open.
function contract_edges.reopen(x)
  local open, satisfied = 0, 0
  for _, edge_id in ipairs(server.call('SMEMBERS', deps_key(x, 'all_edges'))) do
    local key = contract_edges.dep_key(x, edge_id)
    local state = server.call('HGET', key, 'state')
    if state == 'impossible' then
      server.call('HSET', key, 'state', 'unsatisfied', 'last_resolved_at', '')
      server.call('SADD', deps_key(x, 'unresolved'), edge_id)
    end
    if state == 'satisfied' then satisfied = satisfied + 1 else open = open + 1 end
  end
  server.call('HSET', deps_key(x, 'meta'), 'unsatisfied_required_count', open, 'impossible_required_count', 0,
    'last_dependency_update_at', x.at)
  if not x.f.edges_in then return open end
  execution.put(x, {satisfied = satisfied, impossible = 0})
  local group_key = contract_edges.group_key(x)
  if contract_edges.group(group_key).policy_variant then
    server.call('HSET', group_key, 'succeeded', satisfied, 'failed', 0, 'skipped', 0, 'group_state', 'pending')
  end
  if flow_edges.verdict(x.f) ~= 'ready' then
    execution.become_waiting_children(x)
    execution.put(x, {blocking_detail = open .. ' dep(s) unsatisfied after replay'})
  end
  return open
end

-- ---- Removal --------------------------------------------------------------------------------------

local edges_max = 1000  -- in one command

local function unlink_all(list)
  for i = 1, #list, edges_max do server.call('UNLINK', unpack(list, i, math.min(i + edges_max - 1, #list))) end
end

-- A member is removed: its edges go, and a flow without members goes, too.
function removal.leave_flow(x)
  local tag, flow_id, gone = x.tag, x.f.flow_id, {}
  for _, edge_id in ipairs(server.call('SMEMBERS', deps_key(x, 'all_edges'))) do
    gone[#gone + 1] = contract_edges.dep_key(x, edge_id)
  end
  for _, side in ipairs({'in:', 'out:'}) do
    local key = keys.flow(tag, flow_id, side .. x.id)
    for _, edge_id in ipairs(server.call('SMEMBERS', key)) do
      gone[#gone + 1] = keys.flow(tag, flow_id, 'edge:' .. edge_id)
    end
    gone[#gone + 1] = key
  end
  for _, what in ipairs({'meta', 'unresolved', 'all_edges'}) do gone[#gone + 1] = deps_key(x, what) end
  gone[#gone + 1] = contract_edges.group_key(x)
  unlink_all(gone)
  local members = keys.flow(tag, flow_id, 'members')
  server.call('SREM', members, x.id)
  server.call('SREM', keys.flow(tag, flow_id, 'pending_cancels'), x.id)
  if server.call('EXISTS', members) == 1 then return end
  local flow = flows.load(tag, flow_id, x.now)
  -- A walk that removes its nodes removes the flow, too.
  if flow and flows.is_of_contract(flow) and not flow.f.is_removing then flows.remove(flow) end
end

return contract_edges
