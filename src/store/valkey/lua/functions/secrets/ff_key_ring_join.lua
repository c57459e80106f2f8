-- Brings the ring of a partition to that of partition 0, if it is missing or missed a rotation.
--   keys   key ring
--   args   now, the ring of partition 0 as field, value, …
--   reply  OK installed, repaired, matched or mismatched
commands.register('ff_key_ring_join', function(KEYS, ARGV)
  local key, now = KEYS[1], arguments.now(ARGV[1])

  return reply.ok(key_rings.join(key, {unpack(ARGV, 2)}, now))
end)
