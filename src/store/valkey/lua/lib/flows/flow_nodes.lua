-- Adding nodes to a flow.
local flow_nodes = {}

local members_at_once = 1000
flow_nodes.nodes_max, flow_nodes.edges_max, flow_nodes.dependencies_max = 100000, 1000000, 10000
local edge_bytes = 17  -- of an argument: UUID of the node before, and `on`

-- The arguments of each node:
--   uuid (16 bytes), name, lane, kind, priority, payload (=bytes or #, as in ff_submit), delay_until, deadline,
--   retention_ms, content_type, policy (JSON, without budgets), required_capabilities (CSV),
--   attempt_timeout_ms, execution_deadline_ms, budget_ids (CSV), quota_policy_id, max_signals, needed, flags
--   (o: optional, f: finalizer, r: cancel the rest, w: a flow), edges (17 bytes each: UUID of the node before, on),
--   inputs (index=name, joined by byte 31), map (input, max_parallel, tolerated_failures, joined by byte 31), count of
--   tags, then key and value of each tag
local fields_of_node = 23
local names = {
  'uuid', 'node', 'lane', 'kind', 'priority', 'payload', 'delay_until', 'deadline', 'retention_ms', 'content_type',
  'policy', 'required_capabilities', 'attempt_timeout_ms', 'execution_deadline_ms', 'budget_ids',
  'quota_policy_id', 'max_signals', 'needed', 'flags', 'edges', 'inputs', 'map', 'tag_count',
}

-- The nodes in the arguments from a place on.
function flow_nodes.read(tag, ARGV, first)
  local list = {}
  while first <= #ARGV do
    local added = {}
    for i = 1, fields_of_node do
      local value = ARGV[first + i - 1]
      if value ~= '' then added[names[i]] = value end
    end
    first = first + fields_of_node
    added.id = created.id_of(tag, added.uuid)
    added.key = keys.of_execution(tag, added.id, 'core')
    added.tags, added.edges = {}, added.edges or ''
    for i = 1, 2 * tonumber(added.tag_count or 0) do added.tags[i] = ARGV[first + i - 1] end
    first = first + #added.tags
    list[#list + 1] = added
  end
  return list
end

-- Refuses payloads that were to be there already, and are not.
function flow_nodes.check_payloads(tag, list)
  for _, added in ipairs(list) do
    if added.payload == '#' and server.call('EXISTS', keys.of_execution(tag, added.id, 'payload')) == 0 then
      return reply.refuse('payload_missing')
    end
  end
end

local function deadline_of(now, added)
  local deadline, duration = tonumber(added.deadline), tonumber(added.execution_deadline_ms)
  if not duration then return deadline end
  return math.min(deadline or math.huge, now + duration)
end

-- The budgets of a node and of its flow, each once.
local function budgets_of(flow, added)
  local shared = flow.f.budget_ids
  if not shared or not added.budget_ids then return shared or added.budget_ids end
  local all = added.budget_ids
  for id in string.gmatch(shared, '[^,]+') do
    if not string.find(all, id, 1, true) then all = all .. ',' .. id end
  end
  return all
end

local function policy_with(policy_json, budget_ids)
  if not budget_ids then return policy_json or '' end
  local member = '"budget_ids":["' .. string.gsub(budget_ids, ',', '","') .. '"]'
  if not policy_json or policy_json == '{}' then return '{' .. member .. '}' end
  return '{' .. member .. ',' .. string.sub(policy_json, 2)
end

-- An item has that of its list; another node has it in its policy.
local function fairness_of(added)
  if added.is_item or not added.policy or not string.find(added.policy, '"fairness_key"', 1, true) then
    return added.fairness
  end
  return submission.fairness(policy.decode(added.policy) or {})
end

local function new_node(flow, added, index, created_at)
  local f, namespace = flow.f, flow.f.namespace
  local x = execution.new(added.key, flow.now)
  local function flag(letter)
    return added.flags and string.find(added.flags, letter, 1, true) and 1 or nil
  end
  added.all_budgets = budgets_of(flow, added)
  execution.put(x, {
    namespace = namespace, lane_id = added.lane, execution_kind = added.kind, created_at = created_at,
    queue = namespace ~= 'default' and namespace .. '\30' .. added.lane or nil,
    priority = added.priority ~= '0' and added.priority or nil, deadline = deadline_of(flow.now, added),
    retention_ms = added.retention_ms, content_type = added.content_type,
    required_capabilities = added.required_capabilities, attempt_timeout_ms = added.attempt_timeout_ms,
    budget_ids = added.all_budgets, quota_policy_id = added.quota_policy_id, max_signals = added.max_signals,
    fairness = fairness_of(added),
    has_tags = added.tags[1] and 1, flow_id = flow.id, node = added.node, node_index = index,
    is_optional = flag('o'), is_finalizer = flag('f'), cancel_rest = flag('r'), needed = added.needed,
    spawned_in = added.spawned_in, subflow_turn = flag('w') and 0,
  })
  if added.map then
    local over, parallel, tolerated = string.match(added.map, '^([^\31]*)\31([^\31]*)\31([^\31]*)$')
    execution.put(x, {
      map_over = over, map_parallel = parallel ~= '' and parallel or nil,
      map_tolerated = tolerated ~= '0' and tolerated or nil,
    })
  end
  local due = tonumber(added.delay_until)
  execution.become_waiting_children(x, 'pending_first_attempt', due and due > flow.now and due or nil)
  x.event = 'submitted'
  return x
end

-- The node's edges as it keeps them; notes in `leading` what the nodes before it are to keep.
local function edges_of(x, added, leading)
  local records, index = {}, 0
  for i = 1, #added.edges, edge_bytes do
    local uuid = string.sub(added.edges, i, i + 15)
    records[#records + 1] = flow_edges.pack_from(uuid, string.sub(added.edges, i + 16, i + 16))
    leading[uuid] = leading[uuid] or {}
    table.insert(leading[uuid], flow_edges.pack_to(added.uuid, index))
    index = index + 1
  end
  flow_edges.add_from(x, table.concat(records))
  return index
end

local function write_beside(x, added)
  local payload_key = keys.of_execution(x.tag, x.id, 'payload')
  if added.payload == '#' then
    server.call('PERSIST', payload_key)
  elseif #added.payload > 1 then
    server.call('SET', payload_key, string.sub(added.payload, 2))
  end
  local policy_json = added.whole_policy or policy_with(added.policy, added.all_budgets)
  if policy_json ~= '' then server.call('SET', keys.of_execution(x.tag, x.id, 'policy'), policy_json) end
  creation.set_tags(x, added.tags, 1)
  if added.inputs then
    local inputs = {}
    for index, name in string.gmatch(added.inputs, '(%d+)=([^\31]+)') do
      inputs[#inputs + 1], inputs[#inputs + 2] = index, name
    end
    for i = 1, #inputs, 2 * members_at_once do
      server.call('HSET', keys.of_execution(x.tag, x.id, 'inputs'),
        unpack(inputs, i, math.min(i + 2 * members_at_once - 1, #inputs)))
    end
  end
end

-- The lists of all nodes: of the flow, of the namespace, of the queues.
local function write_lists(flow, list, created_at)
  local at, uuids, records, ids, queues = struct.pack('>I8', tonumber(created_at)), {}, {}, {}, {}
  for i, added in ipairs(list) do
    uuids[i], records[i], ids[i] = added.uuid, at .. added.uuid, added.id
    local queue = placement.queue(added.x.f)
    queues[queue] = (queues[queue] or 0) + 1
  end
  server.call('APPEND', keys.flow(flow.tag, flow.id, 'nodes'), table.concat(uuids))
  server.call('APPEND', keys.created(flow.tag, flow.f.namespace), table.concat(records))
  for i = 1, #ids, members_at_once do
    server.call('SADD', keys.flow(flow.tag, flow.id, 'members'),
      unpack(ids, i, math.min(i + members_at_once - 1, #ids)))
  end
  for queue, count in pairs(queues) do totals.add(flow.tag, queue, 'all', count) end
end

-- Whether a flow with these nodes would be too large.
function flow_nodes.is_too_large(flow, list)
  local edges = flows.count(flow, 'edge_count')
  for _, added in ipairs(list) do edges = edges + #added.edges / edge_bytes end
  return flows.count(flow, 'node_count') + #list > flow_nodes.nodes_max or edges > flow_nodes.edges_max
end

-- Refuses an edge from a node that is neither there nor `known`: its place among the arguments, from 0.
local function check_edges(tag, added, known)
  for i = 1, #added.edges, edge_bytes do
    local uuid = string.sub(added.edges, i, i + 15)
    if known[uuid] == nil then
      known[uuid] = server.call('EXISTS', keys.of_execution(tag, created.id_of(tag, uuid), 'core')) == 1
    end
    if not known[uuid] then
      return reply.refuse('node_not_found', tostring(added.place), tostring((i - 1) / edge_bytes))
    end
  end
end

-- The edges of a node as its arguments have them; that one of them spawned it is left out.
local function edges_in(x)
  local count = flow_edges.count_in(x.f) - tonumber(x.f.children or 0)
  local edges = {}
  flow_edges.each_record(flow_edges.records(x, 0, count), function(edge)
    edges[#edges + 1] = edge.uuid .. (edge.on == 'g' and 's' or edge.on)
  end)
  return table.concat(edges)
end

local function inputs_in(x)
  local inputs, flat = {}, server.call('HGETALL', keys.of_execution(x.tag, x.id, 'inputs'))
  for i = 1, #flat, 2 do inputs[flat[i]] = flat[i + 1] end
  return inputs
end

local function has_same_inputs(x, added)
  local inputs = inputs_in(x)
  for index, name in string.gmatch(added.inputs or '', '(%d+)=([^\31]+)') do
    if inputs[index] ~= name then return false end
    inputs[index] = nil
  end
  return next(inputs) == nil
end

-- Refuses a node that the flow has already if its kind or its dependencies are others now.
function flow_nodes.check_same(x, added, place)
  local function another(part) return reply.refuse('duplicate_mismatch', 'node', tostring(place), part) end
  -- Submits can choose ids of executions, also one that a node would have.
  if x.f.node ~= added.node then return reply.refuse('invalid_input', 'child', tostring(place)) end
  if x.f.execution_kind ~= added.kind then return another('kind') end
  local edges = {}
  for i = 1, #added.edges, edge_bytes do
    local on = string.sub(added.edges, i + 16, i + 16)
    edges[#edges + 1] = string.sub(added.edges, i, i + 15) .. (on == 'g' and 's' or on)
  end
  if table.concat(edges) ~= edges_in(x) or not has_same_inputs(x, added) then return another('after') end
end

-- Refuses a new node that would have the name of an item, or whose first item would have its name.
local function check_name(flow, added)
  local flow_uuid = flows.raw_of(flow.id)
  local function core_of(name)
    return keys.of_execution(flow.tag, created.id_of(flow.tag, flows.node_uuid(flow_uuid, name)), 'core')
  end
  local list = string.match(added.node, '^(.+)%.%d+$')
  if list and server.call('HEXISTS', core_of(list), 'map_over') == 1 then
    return reply.refuse('invalid_input', 'item', tostring(added.place))
  end
  if added.map and server.call('EXISTS', core_of(added.node .. '.0')) == 1 then
    return reply.refuse('invalid_input', 'has_item', tostring(added.place))
  end
end

-- The items of an earlier run are those of this one, too; any other node of that name is not an item.
local function check_item(x, added, list_node)
  if not flow_edges.leads_to(x, list_node, 'c') then
    return reply.refuse('invalid_input', 'item_taken', added.node, list_node.f.node)
  end
end

-- Tells the nodes that the flow does not have yet from the others, and refuses what cannot be added: a worker
-- (`spawns`) replaces what it spawned before, and nothing else. Items are those of `list_node`. Returns both lists,
-- and the refusal.
function flow_nodes.sort(flow, list, spawns, list_node)
  local fresh, known, uuids = {}, {}, {}
  for _, added in ipairs(list) do uuids[added.uuid] = true end
  for place, added in ipairs(list) do
    added.place = place - 1
    local x = execution.load(added.key, flow.now)
    local refused
    if x and list_node then
      refused = check_item(x, added, list_node)
    elseif x and spawns and not x.f.spawned_in then
      refused = reply.refuse('invalid_input', 'child', tostring(added.place))
    elseif x then
      refused = flow_nodes.check_same(x, added, added.place)
    else
      refused = not list_node and check_name(flow, added) or check_edges(flow.tag, added, uuids)
    end
    if refused then return nil, nil, refused end
    local into = x and known or fresh
    into[#into + 1] = added
  end
  local refused
  if flow_nodes.is_too_large(flow, fresh) then refused = reply.refuse('flow_limit_exceeded') end
  return fresh, known, refused
end

-- Refuses children that the flow has already and that are not those of this node: they may wait for it.
function flow_nodes.check_children(known, parent)
  for _, added in ipairs(known) do
    local child = execution.load(added.key, parent.now)
    if not flow_edges.leads_to(child, parent) then
      return reply.refuse('invalid_input', 'child', tostring(added.place))
    end
  end
end

-- Whether a node has this payload already.
function flow_nodes.has_payload(x, added)
  return (server.call('GET', keys.of_execution(x.tag, x.id, 'payload')) or '') == string.sub(added.payload, 2)
end

-- A node that is added once more runs again if its payload is another one now, and an item also if it did not
-- complete.
local function add_again(draft, added)
  local x = flow_draft.node(draft, added.id)
  if added.spawned_in then execution.put(x, {spawned_in = added.spawned_in}) end
  local is_same = flow_nodes.has_payload(x, added)
  local has_failed = flows.is_failure[x.f.public_state] and not x.f.as_rest
  if is_same and not (added.is_item and has_failed) then return end
  if not is_same then
    server.call('SET', keys.of_execution(x.tag, x.id, 'payload'), string.sub(added.payload, 2))
    execution.put(x, {content_type = added.content_type})
    if not added.content_type then execution.drop(x, 'content_type') end
  end
  if not flows.is_untouched(x) then
    flow_draft.start_anew(draft, x, is_same and 'its list is read again' or 'added with another payload')
  end
end

-- Nodes that another one spawns depend on it, if on nothing else.
function flow_nodes.mark_spawned(list, spawner)
  local uuid, run = created.raw_of(spawner.tag, spawner.id), execution.count(spawner, 'replay_count')
  for _, added in ipairs(list) do
    added.spawned_in = run
    if added.edges == '' then added.edges = uuid .. 'g' end
    for i = 1, #added.edges, edge_bytes do
      if string.sub(added.edges, i, i + 16) == uuid .. 's' then
        added.edges = string.sub(added.edges, 1, i + 15) .. 'g' .. string.sub(added.edges, i + 17)
      end
    end
  end
end

function flow_nodes.add_all(draft, fresh, known)
  for _, added in ipairs(known) do add_again(draft, added) end
  if #fresh == 0 then return end
  flows.put(draft.flow, {graph_revision = flows.count(draft.flow, 'graph_revision') + 1})
  flow_nodes.add(draft, fresh)
end

-- Adds nodes that nothing has yet; those before them are there, or are among them.
function flow_nodes.add(draft, list)
  local flow = draft.flow
  if #list == 0 then return end
  local count, edges = flows.count(flow, 'node_count'), flows.count(flow, 'edge_count')
  local created_at = created.next_time(flow.tag, flow.f.namespace, flow.now)
  local some_have_ended = flows.open_nodes(flow) < count  -- also while it is built: they can be cancelled
  local leading = {}
  for i, added in ipairs(list) do
    local x = new_node(flow, added, count + i - 1, created_at)
    added.x = x
    edges = edges + edges_of(x, added, leading)
    flow_draft.add(draft, x)
    write_beside(x, added)
  end
  for uuid, records in pairs(leading) do
    flow_edges.add_to(flow_draft.node(draft, created.id_of(flow.tag, uuid)), table.concat(records))
  end
  flows.put(flow, {node_count = count + #list, edge_count = edges})
  for _, added in ipairs(list) do
    local x = added.x
    if some_have_ended then flow_draft.align_new(draft, x) end
    flow_draft.settle(draft, x)
    if not flows.has_ended(x) then x.event = 'submitted' end
    execution.forget_times(x)
  end
  write_lists(flow, list, created_at)
end

return flow_nodes
