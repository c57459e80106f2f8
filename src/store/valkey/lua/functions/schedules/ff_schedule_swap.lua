-- Replaces a schedule if it still has the expected version.
--   keys   schedule
--   args   now, expected version (empty: there is none), version (empty: it is removed), record, due (milliseconds
--          since 1970; empty: never)
--   reply  OK swapped (1 or 0)
-- Beside the hash stand two indexes of its partition: the names of each namespace, and NAMESPACE/NAME by due time.
commands.register('ff_schedule_swap', function(KEYS, ARGV)
  local key, expected, version, record = KEYS[1], ARGV[2], ARGV[3], ARGV[4]
  local tag, namespace, name = string.match(key, '^ff:schedule:({b:%d+}):([^/]+)/(.+)$')
  if not tag then return reply.refuse('invalid_input', 'not the key of a schedule') end
  local args = arguments.reader()
  local due = args:optional_time('due', ARGV[5])
  if args.refused then return args.refused end

  if (server.call('HGET', key, 'version') or '') ~= expected then return reply.ok('0') end
  local names, by_due = keys.index(tag, 'schedules:' .. namespace), keys.index(tag, 'schedules_due')
  local member = namespace .. '/' .. name
  if version == '' then
    server.call('DEL', key)
    server.call('ZREM', names, name)
    server.call('ZREM', by_due, member)
    return reply.ok('1')
  end

  server.call('HSET', key, 'record', record, 'version', version)
  server.call('ZADD', names, 0, name)
  if due then
    server.call('ZADD', by_due, due, member)
  else
    server.call('ZREM', by_due, member)
  end
  return reply.ok('1')
end)
