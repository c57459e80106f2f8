-- Removes entries of the audit log from before a time.
--   keys   audit log
--   args   now, time, how many at most
--   reply  OK how many were removed
commands.register('ff_audit_trim', function(KEYS, ARGV)
  local key, before, most = KEYS[1], ARGV[2], ARGV[3]

  local old = server.call('XRANGE', key, '-', '(' .. before .. '-0', 'COUNT', most)
  for i = 1, #old do server.call('XDEL', key, old[i][1]) end
  return reply.ok(tostring(#old))
end)
