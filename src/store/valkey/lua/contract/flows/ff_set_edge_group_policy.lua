-- Says how many of the edges into a node must be satisfied, before the first one is applied.
--   keys   flow core, edgegroup
--   args   policy_variant (all_of, any_of or quorum), on_satisfied (cancel_remaining or let_run), k, now_ms
--   reply  OK set or already_set
local variants = {all_of = true, any_of = true, quorum = true}
local on_satisfied_words = {cancel_remaining = true, let_run = true}

server.register_function('ff_set_edge_group_policy', function(KEYS, ARGV)
  local core_key, group_key = KEYS[1], KEYS[2]
  local variant, on_satisfied, k, now_ms = ARGV[1], ARGV[2] or '', ARGV[3] or '', ARGV[4]

  if server.call('EXISTS', core_key) == 0 then return reply.refuse('flow_not_found') end
  if not variants[variant] then
    return reply.refuse('invalid_input', 'unsupported_policy_variant: ' .. tostring(variant))
  end
  local count = tonumber(k) or 0
  if variant == 'quorum' and not (count >= 1 and count == math.floor(count) and count < math.huge) then
    return reply.refuse('invalid_input', 'quorum k must be >= 1')
  end
  if variant ~= 'all_of' and not on_satisfied_words[on_satisfied] then
    return reply.refuse('invalid_input',
      'on_satisfied required for any_of/quorum: cancel_remaining | let_run')
  end
  if variant ~= 'quorum' then k = '0' end
  local group = contract_edges.group(group_key)
  if tonumber(group.n or 0) > 0 then
    return reply.refuse('invalid_input', 'edge_group_policy_already_fixed: dependencies already staged')
  end
  if group.policy_variant == variant and group.k == k and (group.on_satisfied or '') == on_satisfied then
    return reply.ok('already_set')
  end

  server.call('HSET', group_key, 'policy_variant', variant, 'on_satisfied', on_satisfied, 'k', k, 'n', 0,
    'succeeded', 0, 'failed', 0, 'skipped', 0, 'group_state', 'pending', 'created_at', now_ms or '')
  return reply.ok('set')
end)
