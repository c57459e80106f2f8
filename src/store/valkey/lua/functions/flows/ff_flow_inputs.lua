-- The results of the nodes before a node, in the order of its dependencies.
--   keys   core
--   args   now, name (of an input; empty: all), first (dependency), looks_max (dependencies), bytes_max
--   reply  OK next (empty at the end), then of each input: name, node, state, content_type, result
-- A page ends behind the input that fills it, or the last dependency that it may look at; it can be empty.
server.register_function{
  function_name = 'ff_flow_inputs',
  callback = function(KEYS, ARGV)
    local core_key = KEYS[1]
    local now, wanted, first = ARGV[1], arguments.given(ARGV[2]), tonumber(ARGV[3])
    local looks_max, bytes_max = tonumber(ARGV[4]), tonumber(ARGV[5])

    local x = execution.load(core_key, arguments.now(now))
    if not x then return reply.refuse('execution_not_found') end
    local found, place, bytes = reply.ok(''), first, 0
    local records = contract_edges.records(x)
    local count = records and flow_edges.count_of(records) or flow_edges.count_in(x.f)
    local stop = math.min(count, first + looks_max)
    local edges = {}
    local looked_at = records and flow_edges.slice(records, first, looks_max)
      or flow_edges.records(x, first, looks_max)
    flow_edges.each_record(looked_at, function(edge) edges[#edges + 1] = edge end)
    local inputs = keys.of_execution(x.tag, x.id, 'inputs')
    local has_names = server.call('EXISTS', inputs) == 1
    while place < stop and bytes < bytes_max do
      local edge = edges[place - first + 1]
      local id = created.id_of(x.tag, edge.uuid)
      local before = server.call('HMGET', keys.of_execution(x.tag, id, 'core'), 'node', 'public_state',
        'result_content_type')
      local name = has_names and server.call('HGET', inputs, place) or before[1] or ''
      if before[2] and edge.on ~= 't' and (not wanted or wanted == name) then
        local result = before[2] == 'completed' and server.call('GET', keys.of_execution(x.tag, id, 'result')) or ''
        local n = #found
        found[n + 1], found[n + 2], found[n + 3] = name, before[1] or '', before[2]
        found[n + 4], found[n + 5] = before[3] or '', result
        bytes = bytes + #result
      end
      place = place + 1
    end
    if place < count then found[3] = tostring(place) end
    return found
  end,
  flags = {'no-writes'},
}
