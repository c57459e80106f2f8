-- The secrets of a partition whose tokens are valid.
--   keys   key ring
--   args   none
--   reply  OK current kid (or empty), number of others, of each: kid, expires_at
server.register_function{
  function_name = 'ff_list_waitpoint_hmac_kids',
  callback = function(KEYS)
    local key = KEYS[1]

    local ring, now = key_rings.load(key), arguments.now()
    local listed = {}
    for field, expires_at in pairs(ring) do
      local kid = string.match(field, '^expires_at:(.*)$')
      if kid and not key_rings.is_due(expires_at, now) then
        listed[#listed + 1] = kid
        listed[#listed + 1] = expires_at
      end
    end
    return reply.ok(ring.current_kid or '', tostring(#listed / 2), unpack(listed))
  end,
  flags = {'no-writes'},
}
