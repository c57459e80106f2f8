-- Makes the first secret of a ring that is not there.
--   keys   key ring of partition 0
--   args   now, kid, secret, configured (1: by an operator; 0: made up)
--   reply  OK installed, repaired, matched or mismatched; the ring, as field, value, …
commands.register('ff_key_ring_install', function(KEYS, ARGV)
  local key, kid, secret, configured = KEYS[1], ARGV[2], ARGV[3], ARGV[4] == '1'

  local outcome = key_rings.install(key, kid, secret, configured)
  return reply.ok(outcome, server.call('HGETALL', key))
end)
