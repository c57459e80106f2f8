-- Returns what an execution holds.
--   keys   admitted:…, admitted_set, concurrency
--   args   execution_id, optionally `unused`: it did not start, so its place in the window is returned, too
--   reply  OK released
-- An execution that holds no slot returns none.
server.register_function('ff_release_admission', function(KEYS, ARGV)
  local key = string.match(KEYS[3] or '', '^(.*):concurrency$')
  local execution_id, was_unused = ARGV[1], ARGV[2] == 'unused'

  local read = arguments.reader()
  admitting.check_key(read, quotas.parse, key, nil, 'KEYS[3]')
  read:text('execution_id', execution_id)
  if read.refused then return read.refused end

  local admitted = server.call('DEL', key .. ':admitted:' .. execution_id) == 1
  local freed = server.call('SREM', key .. ':admitted_set', execution_id) == 1
  if freed then quotas.give_slot_back(key) end
  if was_unused and (admitted or freed)
    and server.call('ZREM', quotas.window_key(key), execution_id) == 1 then
    freed = true
  end
  if freed then quotas.tell_opening(key) end
  return reply.ok('released')
end)
