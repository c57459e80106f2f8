-- Replaces the record of a bulk job that nobody has changed since it was read.
--   keys   bulk
--   args   now, id, version (that was read), record (of the next version), ended_at (empty: it runs)
--   reply  OK saved (1 or 0)
commands.register('ff_bulk_save', function(KEYS, ARGV)
  local tag = keys.tag_in(KEYS[1])
  local id, version, record, ended_at = ARGV[2], ARGV[3], ARGV[4], ARGV[5]

  local known = server.call('HMGET', KEYS[1], 'version', 'namespace')
  if known[1] ~= version then return reply.ok('0') end

  bulks.save(tag, id, {
    version = string.format('%.0f', version + 1), namespace = known[2], record = record, ended_at = ended_at,
  })
  return reply.ok('1')
end)
