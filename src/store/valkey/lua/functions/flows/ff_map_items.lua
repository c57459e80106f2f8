-- Adds items to a node that runs once for each entry of a list.
--   keys   core
--   args   now, origin, run (of the node), first (the index of the first item), is_last (1 or 0), then UUID (16
--          bytes) and payload of each item
--   reply  OK events
-- Nothing is added to a later run, and no item twice.
local first_item = 6

-- Like the node itself.
local function item_of(x, index, uuid, payload)
  local f, flow_uuid = x.f, flows.raw_of(x.f.flow_id)
  local parallel = tonumber(f.map_parallel)
  local turn_of = parallel and index >= parallel and flows.node_uuid(flow_uuid, f.node .. '.' .. index - parallel)
  local id = created.id_of(x.tag, uuid)
  return {
    uuid = uuid, id = id, key = keys.of_execution(x.tag, id, 'core'), node = f.node .. '.' .. index,
    lane = f.lane_id, kind = f.execution_kind, priority = f.priority or '0', payload = '=' .. payload,
    deadline = f.deadline, retention_ms = f.retention_ms, content_type = 'application/json',
    required_capabilities = f.required_capabilities, attempt_timeout_ms = f.attempt_timeout_ms,
    budget_ids = f.budget_ids, quota_policy_id = f.quota_policy_id, max_signals = f.max_signals,
    fairness = f.fairness,
    flags = f.is_finalizer and 'of' or 'o',
    edges = turn_of and turn_of .. 't' or '',
  }
end

commands.register('ff_map_items', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, run, first, is_last = unpack(ARGV, 1, 5)

  local x = execution.load(core_key, arguments.now(now))
  local flow = x and x.f.flow_id and flows.load(x.tag, x.f.flow_id, x.now)
  if not flow or not flows.is_in_run(x, run) or x.f.map_phase ~= 'a'
    or execution.count(x, 'map_items') ~= tonumber(first) then
    return reply.ok('')
  end
  local policy = server.call('GET', keys.of_execution(x.tag, x.id, 'policy')) or ''
  local tags = x.f.has_tags and server.call('HGETALL', keys.of_execution(x.tag, x.id, 'tags')) or {}
  local list, index = {}, tonumber(first)
  for i = first_item, #ARGV, 2 do
    local item = item_of(x, index, ARGV[i], ARGV[i + 1])
    item.whole_policy, item.tags, item.is_item = policy, tags, true
    list[#list + 1], index = item, index + 1
  end
  local fresh, known, refused = flow_nodes.sort(flow, list, false, x)
  if refused then return refused end

  local draft = flow_draft.begin(flow)
  flow_draft.add(draft, x)
  flow_nodes.add_all(draft, fresh, known)
  for _, item in ipairs(list) do flow_draft.add_child(draft, x, flow_draft.node(draft, item.id)) end
  execution.put(x, {map_items = index, map_phase = is_last == '1' and 'r' or 'a'})
  draft.settled_last = x  -- some of the items may run again
  flow_draft.finish(draft)
  return reply.ok(events.tell_flow(draft, origin))
end)
