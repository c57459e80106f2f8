-- Removes window entries that are past, and slots of programs of the contract whose guard is over; corrects
-- the count.
--   keys   quota
--   args   now, cursor (0: from the start)
--   reply  OK next cursor (0: at the end)
server.register_function('ff_quota_mend', function(KEYS, ARGV)
  local key, now, cursor = KEYS[1], arguments.now(ARGV[1]), ARGV[2]

  return reply.ok(quotas.mend(key, now, cursor))
end)
