-- Gives back what an execution holds. KEYS: 1 admitted:…, 2 admitted_set, 3 concurrency. ARGV:
-- 1 execution_id, and maybe 2 `unused`: it did not start, so its place in the window is given back, too.
-- Who holds no slot gives none back. Replies OK released.
server.register_function('ff_release_admission', function(KEYS, ARGV)
  local read = arguments.reader()
  local key = string.match(KEYS[3] or '', '^(.*):concurrency$')
  admitting.check_key(read, quotas.parse, key, nil, 'KEYS[3]')
  local execution_id = read:text('execution_id', ARGV[1])
  if read.refused then return read.refused end
  local admitted = call('DEL', key .. ':admitted:' .. execution_id) == 1
  local freed = call('SREM', key .. ':admitted_set', execution_id) == 1
  if freed then quotas.give_slot_back(key) end
  if ARGV[2] == 'unused' and (admitted or freed)
    and call('ZREM', quotas.window_key(key), execution_id) == 1 then
    freed = true
  end
  if freed then quotas.tell_opening(key) end
  return reply.ok('released')
end)
