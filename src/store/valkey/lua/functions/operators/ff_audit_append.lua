-- Adds an entry to the audit log, and removes the oldest beyond the most that there may be.
--   keys   audit log
--   args   now, the most entries, field, value, …
--   reply  OK
commands.register('ff_audit_append', function(KEYS, ARGV)
  local key, now, entries_max = KEYS[1], ARGV[1], ARGV[2]

  -- With its own clock, the server also sees to it that ids only grow.
  local id = now == '' and '*' or now .. '-*'
  server.call('XADD', key, 'MAXLEN', entries_max, id, unpack(ARGV, 3))
  return reply.ok()
end)
