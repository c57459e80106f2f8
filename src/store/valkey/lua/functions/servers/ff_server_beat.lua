-- A process says that it lives and what it does, and learns of the others. Those that fell silent are forgotten.
--   keys   servers
--   args   now, process, milliseconds that it lives without another sign (0: it ends), letters: `s` it sweeps,
--          `c` its workers claim
--   reply  OK, then of each process that lives: name, letters, milliseconds that it lives without another sign
server.register_function('ff_server_beat', function(KEYS, ARGV)
  local key, now, process = KEYS[1], arguments.now(ARGV[1]), ARGV[2]
  local lives, letters = tonumber(ARGV[3]), ARGV[4]

  if lives > 0 then
    server.call('HSET', key, process, string.format('%.0f %s', now + lives, letters))
  else
    server.call('HDEL', key, process)
  end
  local all, found = server.call('HGETALL', key), reply.ok()
  for i = 1, #all, 2 do
    local dies, does = string.match(all[i + 1], '^(%d+) (%a*)$')
    local left = dies and tonumber(dies) - now or 0
    if left <= 0 then
      server.call('HDEL', key, all[i])
    else
      found[#found + 1] = all[i]
      found[#found + 1] = does
      found[#found + 1] = string.format('%.0f', left)
    end
  end
  return found
end)
