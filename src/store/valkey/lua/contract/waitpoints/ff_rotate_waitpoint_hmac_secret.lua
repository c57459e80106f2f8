-- Signs the waitpoint tokens of a partition with another secret.
--   keys   key ring
--   args   new_kid, new_secret_hex, grace_ms: how long tokens of the secret before stay valid
--   reply  OK rotated, the kid before (or empty), new_kid, number of expired kids that were removed; or OK
--          noop kid, if it is the current one already
local grace_max = 9007199254740991

server.register_function('ff_rotate_waitpoint_hmac_secret', function(KEYS, ARGV)
  local key, new_kid, new_secret_hex, grace_ms = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])

  if not new_kid or new_kid == '' or string.find(new_kid, ':', 1, true) then
    return reply.refuse('invalid_kid')
  end
  if not new_secret_hex or new_secret_hex == '' or not hmac.from_hex(new_secret_hex) then
    return reply.refuse('invalid_secret_hex')
  end
  local is_duration = grace_ms and grace_ms >= 0 and grace_ms <= grace_max
    and math.floor(grace_ms) == grace_ms
  if not is_duration then return reply.refuse('invalid_grace_ms') end
  return key_rings.rotate(key, new_kid, new_secret_hex, grace_ms, arguments.now())
end)
