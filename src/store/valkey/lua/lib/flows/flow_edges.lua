-- Edges of a flow, as records of one size. An edge stands with the node that it leads to, which has its state,
-- and with the node that it comes from:
--   from := (uuid:16 on:1 state:1 run:be32)*   of the node before; on is s(ucceeded), f(ailed) or
--                                              a(ny end), or, of edges that came later (core::EdgeRole):
--                                              g (it spawned this node), c (a child) or t (a turn);
--                                              state p(ending), s(atisfied) or i(mpossible), run the one
--                                              of the node before that decided it
--   to   := (uuid:16 index:be32)*              of the node after, and the edge's place among those into it
-- Few of them are fields of the core, small enough that a hash stays compact; more are texts beside it, and the core
-- has their number: edges_in, edges_out.
local flow_edges = {}

local from_bytes, to_bytes = 22, 20
local from_in_core_max, to_in_core_max = 2, 3
local sorted_max = 100

function flow_edges.count_in(f)
  return tonumber(f.edges_in) or #(f.from or '') / from_bytes
end

function flow_edges.count_out(f)
  return tonumber(f.edges_out) or #(f.to or '') / to_bytes
end

-- Whether a node can start: ready, skip or wait.
function flow_edges.verdict(f)
  local dependencies = flow_edges.count_in(f) - tonumber(f.children or 0)
  local needed = tonumber(f.needed or dependencies)
  if dependencies - tonumber(f.impossible or 0) < needed then return 'skip' end
  -- Items of an earlier list do not keep it from being read once more.
  local reads_list = f.map_over and not f.map_phase
  local open = tonumber(f.satisfied or 0) < needed or tonumber(f.open_children or 0) > 0 and not reads_list
  return open and 'wait' or 'ready'
end

function flow_edges.pack_from(uuid, on)
  return uuid .. on .. 'p\0\0\0\0'
end

function flow_edges.pack_to(uuid, index)
  return uuid .. struct.pack('>I4', index)
end

local function unpack_from(record)
  return {
    uuid = string.sub(record, 1, 16), on = string.sub(record, 17, 17), state = string.sub(record, 18, 18),
    run = struct.unpack('>I4', record, 19),
  }
end

local function beside(x, what)
  return keys.of_execution(x.tag, x.id, what)
end

function flow_edges.count_of(records)
  return #records / from_bytes
end

function flow_edges.slice(records, first, count)
  return string.sub(records, first * from_bytes + 1, (first + count) * from_bytes)
end

-- The edge into a node at a place, counted from 0.
function flow_edges.get(x, index)
  local first = index * from_bytes
  if not x.f.edges_in then
    return unpack_from(string.sub(x.f.from, first + 1, first + from_bytes))
  end
  return unpack_from(server.call('GETRANGE', beside(x, 'edges_from'), first, first + from_bytes - 1))
end

function flow_edges.put(x, index, edge)
  local first = index * from_bytes
  local record = edge.uuid .. edge.on .. edge.state .. struct.pack('>I4', edge.run)
  if not x.f.edges_in then
    local all = x.f.from
    execution.put(x, {from = string.sub(all, 1, first) .. record .. string.sub(all, first + from_bytes + 1)})
  else
    server.call('SETRANGE', beside(x, 'edges_from'), first, record)
  end
end

-- State of an edge, and phase and eligibility of its node, which is not loaded.
function flow_edges.look(tag, id, index)
  local f = server.call('HMGET', keys.of_execution(tag, id, 'core'), 'from', 'lifecycle_phase',
    'eligibility_state')
  local at = index * from_bytes + 17  -- from 0
  local state = f[1] and string.sub(f[1], at + 1, at + 1)
    or server.call('GETRANGE', keys.of_execution(tag, id, 'edges_from'), at, at)
  return state, f[2], f[3]
end

-- Records of the edges into a node, from a place on.
function flow_edges.records(x, first, count)
  local start = first * from_bytes
  local all = x.f.from
  if not x.f.edges_in then
    return string.sub(all or '', start + 1, start + count * from_bytes)
  end
  return server.call('GETRANGE', beside(x, 'edges_from'), start, start + count * from_bytes - 1)
end

function flow_edges.each_record(records, visit)
  for i = 1, #records, from_bytes do visit(unpack_from(string.sub(records, i, i + from_bytes - 1))) end
end

local function out_records(x, first, count)
  if not x.f.edges_out then
    return string.sub(x.f.to or '', first * to_bytes + 1, (first + count) * to_bytes)
  end
  return server.call('GETRANGE', beside(x, 'edges_to'), first * to_bytes, (first + count) * to_bytes - 1)
end

local function by_node(one, other)
  if one.id ~= other.id then return one.id < other.id end
  return one.index < other.index
end

-- The edges out of a node from a place on: lists of the ids of the nodes after, and of places there. Few of them are
-- in the order of those ids, as in the embedded store, so that both decide in the same order; more in the order in
-- which they were added.
function flow_edges.out(x, first, max)
  local count = flow_edges.count_out(x.f)
  local sorted = count <= sorted_max
  local records = sorted and out_records(x, 0, count) or out_records(x, first, max)
  local edges = {}
  for i = 1, #records, to_bytes do
    edges[#edges + 1] = {
      id = created.id_of(x.tag, string.sub(records, i, i + 15)), index = struct.unpack('>I4', records, i + 16),
    }
  end
  if sorted and #edges > 1 then table.sort(edges, by_node) end
  local skipped = sorted and first or 0
  local ids, indexes = {}, {}
  for i = skipped + 1, math.min(skipped + max, #edges) do
    ids[#ids + 1], indexes[#indexes + 1] = edges[i].id, edges[i].index
  end
  return ids, indexes
end

-- Whether an edge leads from one node to the other; with `on`, one of that kind.
function flow_edges.leads_to(x, downstream, on)
  local first, ids, indexes = 0, nil, nil
  repeat
    ids, indexes = flow_edges.out(x, first, sorted_max)
    for i, id in ipairs(ids) do
      if id == downstream.id and (not on or flow_edges.get(downstream, indexes[i]).on == on) then return true end
    end
    first = first + #ids
  until #ids < sorted_max
  return false
end

-- Adds edges into a node: packed records.
function flow_edges.add_from(x, records)
  local count = flow_edges.count_in(x.f) + #records / from_bytes
  if records == '' then return end
  if count <= from_in_core_max then
    execution.put(x, {from = (x.f.from or '') .. records})
  else
    server.call('APPEND', beside(x, 'edges_from'), (x.f.from or '') .. records)
    execution.drop(x, 'from')
    execution.put(x, {edges_in = count})
  end
end

-- Adds edges out of a node: packed records.
function flow_edges.add_to(x, records)
  local count = flow_edges.count_out(x.f) + #records / to_bytes
  if count <= to_in_core_max then
    execution.put(x, {to = (x.f.to or '') .. records})
  else
    server.call('APPEND', beside(x, 'edges_to'), (x.f.to or '') .. records)
    execution.drop(x, 'to')
    execution.put(x, {edges_out = count})
  end
end

return flow_edges
