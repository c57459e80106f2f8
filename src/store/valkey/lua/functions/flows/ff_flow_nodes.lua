-- Nodes of a flow, in the order in which they were added.
--   keys   flow core
--   args   now, first, nodes_max
--   reply  OK next (empty at the end), then of each node: id, core (flat), newest attempt (flat), records of
--          its edges (lib/flow_edges.lua), names of the nodes before it, inputs (flat: index, name)
-- A page ends early behind nodes with many edges.
local edges_max = 1000

local function add_node(found, x)
  local f = x.f
  local records = flow_edges.records(x, 0, flow_edges.count_in(f))
  local before = {}
  flow_edges.each_record(records, function(edge)
    local core = keys.of_execution(x.tag, created.id_of(x.tag, edge.uuid), 'core')
    before[#before + 1] = server.call('HGET', core, 'node') or ''
  end)
  local core = {}
  for field, value in pairs(f) do core[#core + 1], core[#core + 2] = field, value end
  local n = #found
  found[n + 1], found[n + 2] = x.id, core
  found[n + 3] = f.current_attempt_index and server.call('HGETALL', attempts.key(x)) or {}
  found[n + 4], found[n + 5] = records, before
  found[n + 6] = server.call('HGETALL', keys.of_execution(x.tag, x.id, 'inputs'))
  return #before
end

server.register_function{
  function_name = 'ff_flow_nodes',
  callback = function(KEYS, ARGV)
    local core_key = KEYS[1]
    local now, first, nodes_max = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

    local tag, id = keys.parse_flow(core_key)
    local flow = flows.find(tag, id, arguments.now(now))
    if not flow then return flows.not_found() end
    local found, edges, place = reply.ok(''), 0, first
    for _, node in ipairs(flows.members(flow, first, nodes_max)) do
      if edges >= edges_max then break end
      local x = execution.load(keys.of_execution(tag, node, 'core'), flow.now)
      if x then edges = edges + add_node(found, x) end
      place = place + 1
    end
    if place < flows.count(flow, 'node_count') then found[3] = tostring(place) end
    return found
  end,
  flags = {'no-writes'},
}
