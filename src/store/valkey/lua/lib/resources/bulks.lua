-- Bulk jobs of all namespaces, in one partition. A job is a hash: version, namespace, ended_at (missing while it runs)
-- and record, whose bytes only the programs read. Indexes beside them: the jobs of a namespace and those that run,
-- both by id, and those that ended, by time.
local bulks = {}

function bulks.key(tag, id)
  return 'ff:bulk:' .. tag .. ':' .. id
end

function bulks.running(tag)
  return 'ff:bulks:' .. tag .. ':running'
end

function bulks.running_of(tag, namespace)
  return 'ff:bulks:' .. tag .. ':running:' .. namespace
end

function bulks.ended(tag)
  return 'ff:bulks:' .. tag .. ':ended'
end

function bulks.of_namespace(tag, namespace)
  return 'ff:bulks:' .. tag .. ':ns:' .. namespace
end

function bulks.save(tag, id, job)
  server.call('HSET', bulks.key(tag, id), 'version', job.version, 'namespace', job.namespace, 'record', job.record)
  server.call('ZADD', bulks.of_namespace(tag, job.namespace), 0, id)
  if job.ended_at == '' then
    server.call('ZADD', bulks.running(tag), 0, id)
    server.call('SADD', bulks.running_of(tag, job.namespace), id)
    return
  end
  server.call('HSET', bulks.key(tag, id), 'ended_at', job.ended_at)
  server.call('ZREM', bulks.running(tag), id)
  server.call('SREM', bulks.running_of(tag, job.namespace), id)
  server.call('ZADD', bulks.ended(tag), job.ended_at, id)
end

-- Only of a job that has ended.
function bulks.forget(tag, id)
  local namespace = server.call('HGET', bulks.key(tag, id), 'namespace')
  if namespace then server.call('ZREM', bulks.of_namespace(tag, namespace), id) end
  server.call('ZREM', bulks.ended(tag), id)
  server.call('DEL', bulks.key(tag, id))
end

-- Of a namespace; nil if none has ended.
function bulks.oldest_ended(tag, namespace)
  local oldest, first
  for _, id in ipairs(server.call('ZRANGE', bulks.of_namespace(tag, namespace), 0, -1)) do
    local at = tonumber(server.call('HGET', bulks.key(tag, id), 'ended_at') or nil)
    if at and (not first or at < first) then oldest, first = id, at end
  end
  return oldest
end

return bulks
