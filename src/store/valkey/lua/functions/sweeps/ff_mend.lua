-- Puts executions back into the indexes that they belong in.
--   keys   any key of the partition
--   args   now, namespace, first (record of the namespace's executions), count
--   reply  OK next (where to continue; '' at the end) checked mended
local function mend(tag, id, now)
  local x = execution.load(keys.of_execution(tag, id, 'core'), now)
  if not x then return 0, 0 end
  local mended = 0
  placement.each(tag, placement.queue(x.f), x.places, function(key, score)
    if tonumber(server.call('ZSCORE', key, id) or 'nan') == score then return end
    server.call('ZADD', key, score, id)
    mended = mended + 1
  end)
  return 1, mended
end

server.register_function('ff_mend', function(KEYS, ARGV)
  local tag = keys.tag_in(KEYS[1])
  local now, namespace = arguments.now(ARGV[1]), ARGV[2]
  local first, count = tonumber(ARGV[3]), tonumber(ARGV[4])

  local bytes = created.record_bytes
  local records = server.call('GETRANGE', keys.created(tag, namespace), first * bytes,
    (first + count) * bytes - 1)
  local checked, mended = 0, 0
  for i = 1, #records, bytes do
    local found, changes = mend(tag, created.id_of(tag, string.sub(records, i + 8, i + bytes - 1)), now)
    checked, mended = checked + found, mended + changes
  end
  local at_end = #records < count * bytes
  return reply.ok(at_end and '' or tostring(first + count), tostring(checked), tostring(mended))
end)
