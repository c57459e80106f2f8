-- Puts executions back into the indexes that they belong in. KEYS: any key of the partition. ARGV: 1 now,
-- 2 cursor, 3 about how many. Replies OK next cursor, checked, mended.
local function mend_execution(tag, id, now)
  local core_key = keys.of_execution(tag, id, 'core')
  local x = execution.load(core_key, now)
  if not x then return false end
  local mended = 0
  for key, score in pairs(x.places) do
    local stored = call('ZSCORE', key, id)
    if not stored or tonumber(stored) ~= score then
      call('ZADD', key, score, id)
      mended = mended + 1
    end
  end
  return true, mended
end

server.register_function('ff_mend', function(KEYS, ARGV)
  local tag = string.match(KEYS[1], '{[^}]*}')
  local now = arguments.now(ARGV[1])
  local page = call('SSCAN', keys.index(tag, 'all_executions'), ARGV[2], 'COUNT', ARGV[3])
  local checked, mended = 0, 0
  for _, id in ipairs(page[2]) do
    local found, changes = mend_execution(tag, id, now)
    checked = checked + 1
    if found then
      mended = mended + changes
    else
      call('SREM', keys.index(tag, 'all_executions'), id)
      mended = mended + 1
    end
  end
  return reply.ok(page[1], tostring(checked), tostring(mended))
end)
