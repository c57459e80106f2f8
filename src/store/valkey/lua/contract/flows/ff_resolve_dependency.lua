-- Resolves an edge with the outcome of the execution that it comes from.
--   keys   exec core, deps:meta, deps:unresolved, dep, lane eligible, lane terminal, lane
--          blocked:dependencies, attempt, stream meta, payload, result of the upstream, and maybe edgegroup,
--          in of the downstream, pending_cancel_groups
--   args   edge_id, upstream_outcome, now_ms, and maybe flow_id, downstream_eid
--   reply  OK and what it came to: satisfied, impossible, pending, already_fired or already_resolved; and
--          data_injected, child_skipped or ''
server.register_function('ff_resolve_dependency', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local edge_id, outcome, now_ms = ARGV[1], ARGV[2] or '', ARGV[3]

  local tag, id = keys.parse_core(core_key or '')
  if not tag then return reply.refuse('invalid_dependency') end
  local x = contract.find(core_key)
  if not x then return contract_edges.resolve_without_node(tag, id, edge_id, outcome, now_ms) end
  -- The execution before it was replayed: its next end decides.
  if outcome == 'none' then return contract_edges.left_open(x, edge_id) end
  local word, detail = contract_edges.resolve(x, edge_id, outcome, arguments.given(now_ms) or x.at)
  if not word then return detail end
  if word == 'already_resolved' then return reply.ok(word) end

  if x.event then
    contract.save(x, x.event)
  else
    execution.write(x)
  end
  return reply.ok(word, detail)
end)
