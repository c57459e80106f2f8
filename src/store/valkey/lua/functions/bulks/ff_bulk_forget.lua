-- Forgets bulk jobs that ended before a time.
--   keys   any of their partition
--   args   now, ended_before, max
--   reply  OK count
commands.register('ff_bulk_forget', function(KEYS, ARGV)
  local tag = keys.tag_in(KEYS[1])
  local ended_before, max = ARGV[2], ARGV[3]

  local ids = server.call('ZRANGE', bulks.ended(tag), '-inf', '(' .. ended_before, 'BYSCORE', 'LIMIT', 0, max)
  for _, id in ipairs(ids) do bulks.forget(tag, id) end
  return reply.ok(tostring(#ids))
end)
