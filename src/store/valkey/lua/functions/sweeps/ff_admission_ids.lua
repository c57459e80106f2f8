-- Ids of budgets or quotas, or names of schedules, in many partitions at once.
--   keys   none
--   args   index (budgets:, quotas: or schedules:NAMESPACE; of all namespaces budget_policies or
--          quota_policies), after which id (empty: from the start), ids_max (of each partition), then tags
--   reply  as lib/sweeping.lua: the ids, sorted within a partition
local function of_all(key, after, ids_max)
  local ids, page = {}, {}
  for _, id in ipairs(server.call('SMEMBERS', key)) do
    if id > after then ids[#ids + 1] = id end
  end
  table.sort(ids)
  for i = 1, math.min(#ids, ids_max) do page[i] = ids[i] end
  return page
end

server.register_function{
  function_name = 'ff_admission_ids',
  callback = function(_, ARGV)
    local index, after, ids_max = ARGV[1], ARGV[2], tonumber(ARGV[3])

    local is_sorted = string.find(index, ':', 1, true) ~= nil
    local from = after == '' and '-' or '(' .. after
    return sweeping.each(ARGV, 4, function(tag, found)
      local key = keys.index(tag, index)
      local ids = is_sorted and server.call('ZRANGE', key, from, '+', 'BYLEX', 'LIMIT', 0, ids_max)
        or of_all(key, after, ids_max)
      for _, id in ipairs(ids) do found[#found + 1] = id end
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
