-- Adds nodes to a flow that is being built. Nodes that it has already are passed over.
--   keys   flow core
--   args   now, origin, then the nodes (lib/flow_nodes.lua)
--   reply  OK events fields tags
local first_node = 3

local function is_known(added)
  return server.call('EXISTS', added.key) == 1
end

-- Refuses an edge from a node that is neither there nor among these: its place among the arguments, from 0.
local function check_edges(tag, list, fresh)
  local known = {}
  for _, added in ipairs(list) do known[added.uuid] = true end
  for _, added in ipairs(fresh) do
    for i = 1, #added.edges, 17 do
      local uuid = string.sub(added.edges, i, i + 15)
      if known[uuid] == nil then
        known[uuid] = server.call('EXISTS', keys.of_execution(tag, created.id_of(tag, uuid), 'core')) == 1
      end
      if not known[uuid] then
        return reply.refuse('node_not_found', tostring(added.place), tostring((i - 1) / 17))
      end
    end
  end
end

commands.register('ff_flow_add_nodes', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin = ARGV[1], ARGV[2]

  local tag, id = keys.parse_flow(core_key)
  local flow = flows.find(tag, id, arguments.now(now))
  if not flow then return flows.not_found() end
  if flow.f.public_flow_state ~= 'building' then
    return reply.refuse('flow_not_building', flow.f.public_flow_state)
  end
  local list, fresh = flow_nodes.read(tag, ARGV, first_node), {}
  for place, added in ipairs(list) do
    added.place = place - 1
    if not is_known(added) then fresh[#fresh + 1] = added end
  end
  local refused = check_edges(tag, list, fresh)
  if refused then return refused end
  if flow_nodes.is_too_large(flow, fresh) then return reply.refuse('flow_limit_exceeded') end
  if #fresh == 0 then return reply.ok('', flows.shown(flow)) end

  flows.put(flow, {graph_revision = flows.count(flow, 'graph_revision') + 1})
  local draft = flow_draft.begin(flow)
  flow_nodes.add(draft, fresh)
  flow_draft.finish(draft)
  return reply.ok(events.tell_flow(draft, origin), flows.shown(flow))
end)
