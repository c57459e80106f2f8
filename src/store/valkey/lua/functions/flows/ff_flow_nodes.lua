-- Nodes of a flow, in the order in which they were added.
--   keys   flow core
--   args   now, first, nodes_max, first_edge (of those into the first node; absent: nodes come whole)
--   reply  OK next (empty at the end), then of each node: id, core (flat), newest attempt (flat), records of
--          its edges (lib/flow_edges.lua), names of the nodes before it, inputs (flat: index, name)
-- A page ends early behind many edges, also within a node: next is then its place, a dot and the place of the
-- edge to go on with. It also ends behind the node that uses up its time.
local edges_max = 500
local seconds_max = 0.002  -- of processor time

-- The inputs with a name of their own, of `count` edges from `first` on.
local function inputs_of(x, first, count)
  local key, indexes, inputs = keys.of_execution(x.tag, x.id, 'inputs'), {}, {}
  if count == 0 then return inputs end
  if count > edges_max then return server.call('HGETALL', key) end
  for i = 1, count do indexes[i] = first + i - 1 end
  for i, name in ipairs(server.call('HMGET', key, unpack(indexes))) do
    if name then inputs[#inputs + 1], inputs[#inputs + 2] = tostring(indexes[i]), name end
  end
  return inputs
end

-- `records` are those of edges that were applied one by one, if the node has such.
local function add_node(found, x, first_edge, count, records)
  local f = x.f
  records = records and flow_edges.slice(records, first_edge, count) or flow_edges.records(x, first_edge, count)
  local before = {}
  flow_edges.each_record(records, function(edge)
    local core = keys.of_execution(x.tag, created.id_of(x.tag, edge.uuid), 'core')
    before[#before + 1] = server.call('HGET', core, 'node') or ''
  end)
  local core = {}
  for field, value in pairs(f) do core[#core + 1], core[#core + 2] = field, value end
  local n = #found
  found[n + 1], found[n + 2] = x.id, core
  found[n + 3] = attempts.newest(x)
  found[n + 4], found[n + 5] = records, before
  found[n + 6] = inputs_of(x, first_edge, #before)
end

server.register_function{
  function_name = 'ff_flow_nodes',
  callback = function(KEYS, ARGV)
    local core_key = KEYS[1]
    local now, first, nodes_max, first_edge = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])

    local tag, id = keys.parse_flow(core_key)
    local flow = flows.find(tag, id, arguments.now(now))
    if not flow then return flows.not_found() end
    local found, edges_left, place, edge = reply.ok(''), edges_max, first, first_edge or 0
    local over = os.clock() + seconds_max
    for _, node in ipairs(flows.members(flow, first, nodes_max)) do
      if edges_left <= 0 or (place > first and os.clock() >= over) then break end
      local x = execution.load(keys.of_execution(tag, node, 'core'), flow.now)
      if x then
        local records = contract_edges.records(x)
        local into = (records and flow_edges.count_of(records) or flow_edges.count_in(x.f)) - edge
        local count = first_edge and math.min(into, edges_left) or into
        add_node(found, x, edge, count, records)
        edges_left = edges_left - into
        if count < into then
          found[3] = place .. '.' .. edge + count
          return found
        end
      end
      place, edge = place + 1, 0
    end
    if place < flows.count(flow, 'node_count') then found[3] = tostring(place) end
    return found
  end,
  flags = {'no-writes'},
}
