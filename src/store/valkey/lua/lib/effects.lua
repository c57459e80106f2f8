-- Effects: what a change of an execution means for a budget or a quota, which live in other partitions, and work
-- on a flow that is too much for one call. They are kept as texts, beside the change that caused them, until they are carried out. The same texts are in
-- core/effects.
local effects = {}

-- An execution lost what it held of its quota.
function effects.add_release(x, token)
  if not x.f.quota_policy_id then return end
  server.call('SADD', keys.effects(x.tag), 'release_token ' .. x.f.quota_policy_id .. ' ' .. token)
end

-- An execution is gone: what it spent need not be known any longer.
function effects.add_forget(x)
  local budgets = x.f.budget_ids
  if not budgets then return end
  local texts = {}
  for budget in string.gmatch(budgets, '[^,]+') do
    texts[#texts + 1] = 'forget_spending ' .. budget .. ' ' .. x.id
  end
  if #texts > 0 then server.call('SADD', keys.effects(x.tag), unpack(texts)) end
end

-- Of flows: 'advance_flow <flow>', 'resolve_edges <execution> <turn>', 'cancel_rest <execution> <run>'.
function effects.add_all(tag, texts)
  if #texts > 0 then server.call('SADD', keys.effects(tag), unpack(texts)) end
end

function effects.has(tag, text)
  return server.call('SISMEMBER', keys.effects(tag), text) == 1
end

function effects.settle(tag, text)
  server.call('SREM', keys.effects(tag), text)
end

return effects
