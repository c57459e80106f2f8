-- Forgets window entries that are past, and slots of programs of the contract whose guard is over; puts
-- the count right. KEYS: quota. ARGV: 1 now, 2 where to go on (0: from the start). Replies OK where to go
-- on (0: at the end).
server.register_function('ff_quota_mend', function(KEYS, ARGV)
  return reply.ok(quotas.mend(KEYS[1], arguments.now(ARGV[1]), ARGV[2]))
end)
