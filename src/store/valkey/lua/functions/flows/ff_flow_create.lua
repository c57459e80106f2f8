-- Makes a flow with its first nodes.
--   keys   flow core
--   args   now, origin, namespace, kind, state (building or running; empty: nothing is made), digest (of the
--          request), on_failure (finish or stop), result (a node's name), deadline, retention_ms, budget_ids (CSV),
--          idempotency_key, parent_node, parent_run (of a flow that is a node of another one), count of tags, key
--          and value of each tag, then the nodes (lib/flow_nodes.lua)
--   reply  OK or DUPLICATE, events, fields, tags
-- An empty text means: not given.
local given = arguments.given
local first_tag = 16

local function fields_of(ARGV, tag_count)
  local namespace, kind, state, digest, on_failure, result, deadline, retention_ms, budget_ids, idempotency_key,
    parent_node, parent_run = unpack(ARGV, 3, first_tag - 2)
  return {
    namespace = namespace, flow_kind = kind, public_flow_state = state, digest = digest,
    on_failure = on_failure == 'stop' and 'stop' or nil, result = given(result), deadline = given(deadline),
    retention_ms = retention_ms, budget_ids = given(budget_ids), idempotency_key = given(idempotency_key),
    parent_node = given(parent_node), parent_run = given(parent_run),
    graph_revision = 1, node_count = 0, edge_count = 0, has_tags = tag_count > 0 and 1 or nil,
  }
end

commands.register('ff_flow_create', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, tag_count = ARGV[1], ARGV[2], tonumber(ARGV[first_tag - 1])

  local tag, id = keys.parse_flow(core_key)
  now = arguments.now(now)
  local existing = flows.load(tag, id, now)
  if existing and existing.f.namespace ~= ARGV[3] then return reply.refuse('invalid_input', 'id') end
  if existing and existing.f.is_removing then return reply.refuse('flow_being_removed', id) end
  if existing then
    if existing.f.digest ~= ARGV[6] then return reply.refuse('duplicate_mismatch', id) end
    local core, tags = flows.shown(existing)
    return {1, 'DUPLICATE', '', core, tags}
  end
  if ARGV[5] == '' then return reply.ok('') end
  local list = flow_nodes.read(tag, ARGV, first_tag + 2 * tag_count)
  local refused = flow_nodes.check_payloads(tag, list)
  if refused then return refused end

  local fields = fields_of(ARGV, tag_count)
  fields.flow_id, fields.created_at = id, string.format('%.0f', now)
  local flow = flows.new(tag, id, fields, now)
  local draft = flow_draft.begin(flow)
  flow_nodes.add(draft, list)
  if tag_count > 0 then
    server.call('HSET', keys.flow(tag, id, 'tags'), unpack(ARGV, first_tag, first_tag + 2 * tag_count - 1))
  end
  server.call('ZADD', keys.flows(tag, fields.namespace), now, id)
  server.call('SADD', keys.index(tag, 'flow_index'), id)
  flow_draft.finish(draft, 'flow_submitted')
  return reply.ok(events.tell_flow(draft, origin), flows.shown(flow))
end)
