-- Stores a bulk job.
--   keys   bulk
--   args   now, id, namespace, record, running_max and kept_max (of the namespace)
--   reply  OK record, or DUPLICATE and the record that is there | resource_exhausted
commands.register('ff_bulk_create', function(KEYS, ARGV)
  local tag = keys.tag_in(KEYS[1])
  local id, namespace, record = ARGV[2], ARGV[3], ARGV[4]
  local running_max, kept_max = tonumber(ARGV[5]), tonumber(ARGV[6])

  local existing = server.call('HGET', KEYS[1], 'record')
  if existing then return {1, 'DUPLICATE', existing} end
  if server.call('SCARD', bulks.running_of(tag, namespace)) >= running_max then
    return reply.refuse('resource_exhausted')
  end
  local is_full = server.call('ZCARD', bulks.of_namespace(tag, namespace)) >= kept_max
  local oldest = is_full and bulks.oldest_ended(tag, namespace)

  if oldest then bulks.forget(tag, oldest) end
  bulks.save(tag, id, {version = 1, namespace = namespace, record = record, ended_at = ''})
  return reply.ok(record)
end)
