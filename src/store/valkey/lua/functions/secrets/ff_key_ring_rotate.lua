-- Signs the waitpoint tokens of a partition with another secret.
--   keys   key ring
--   args   now, kid, secret, grace_ms
--   reply  as ff_rotate_waitpoint_hmac_secret
commands.register('ff_key_ring_rotate', function(KEYS, ARGV)
  local key, now = KEYS[1], arguments.now(ARGV[1])
  local kid, secret, grace_ms = ARGV[2], ARGV[3], tonumber(ARGV[4])

  return key_rings.rotate(key, kid, secret, grace_ms, now)
end)
