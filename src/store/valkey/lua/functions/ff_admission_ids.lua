-- Ids of budgets or quotas, in many partitions at once. No KEYS. ARGV: 1 index (budgets:NAMESPACE,
-- quotas:NAMESPACE, or of all namespaces budget_policies, quota_policies), 2 after which id (empty: from
-- the start), 3 how many of each partition at most, 4… tags. Replies as lib/sweeping.lua: the ids, sorted
-- within a partition.
local function of_all(key, after, most)
  local ids, page = {}, {}
  for _, id in ipairs(call('SMEMBERS', key)) do
    if id > after then ids[#ids + 1] = id end
  end
  table.sort(ids)
  for i = 1, math.min(#ids, most) do page[i] = ids[i] end
  return page
end

server.register_function{
  function_name = 'ff_admission_ids',
  callback = function(_, ARGV)
    local after, most = ARGV[2], tonumber(ARGV[3])
    local is_sorted = string.find(ARGV[1], ':', 1, true) ~= nil
    local from = after == '' and '-' or '(' .. after
    return sweeping.each(ARGV, 4, function(tag, found)
      local key = keys.index(tag, ARGV[1])
      local ids = is_sorted and call('ZRANGE', key, from, '+', 'BYLEX', 'LIMIT', 0, most)
        or of_all(key, after, most)
      for _, id in ipairs(ids) do found[#found + 1] = id end
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
