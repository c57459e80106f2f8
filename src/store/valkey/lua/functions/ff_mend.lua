-- Puts executions back into the indexes that they belong in. KEYS: any key of the partition. ARGV: 1 now,
-- 2 namespace, 3 from which of its executions on, 4 how many. Replies OK where to go on ('' at the end),
-- checked, mended.
local function mend(tag, id, now)
  local x = execution.load(keys.of_execution(tag, id, 'core'), now)
  if not x then return 0, 0 end
  local mended = 0
  placement.each(tag, placement.queue(x.f), x.places, function(key, score)
    if tonumber(call('ZSCORE', key, id) or 'nan') == score then return end
    call('ZADD', key, score, id)
    mended = mended + 1
  end)
  return 1, mended
end

server.register_function('ff_mend', function(KEYS, ARGV)
  local tag = string.match(KEYS[1], '{[^}]*}')
  local now, first, count = arguments.now(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[4])
  local bytes = created.record_bytes
  local records = call('GETRANGE', keys.created(tag, ARGV[2]), first * bytes,
    (first + count) * bytes - 1)
  local checked, mended = 0, 0
  for i = 1, #records, bytes do
    local found, changes = mend(tag, created.id_of(tag, string.sub(records, i + 8, i + bytes - 1)), now)
    checked, mended = checked + found, mended + changes
  end
  local at_end = #records < count * bytes
  return reply.ok(at_end and '' or tostring(first + count), tostring(checked), tostring(mended))
end)
