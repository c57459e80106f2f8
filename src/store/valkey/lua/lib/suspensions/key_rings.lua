-- The secrets that sign waitpoint tokens: a hash in each partition of executions.
--   current_kid       the one that signs
--   secret:<kid>      its hex digits
--   expires_at:<kid>  of those before: the last moment at which their tokens are valid
--   previous_kid, previous_expires_at   of the last rotation, for people
-- They are the same in all partitions; partition 0 is changed first.
local key_rings = {}

local function given(value)
  return value ~= '' and value or nil
end

-- The same bytes, in whichever case.
local function same(a, b)
  return string.lower(a) == string.lower(b)
end

function key_rings.load(key)
  local ring, flat = {}, server.call('HGETALL', key)
  for i = 1, #flat, 2 do ring[flat[i]] = given(flat[i + 1]) end
  return ring
end

-- Of an expiry as it is stored. A number that is none is not in the future.
function key_rings.is_due(expires_at, now)
  local at = tonumber(expires_at)
  return not (at and at > 0 and at >= now)
end

-- Makes it the first secret of a ring that is not there. If it is the configured one, it also takes the
-- place of a first secret that was lost, never of a later one.
function key_rings.install(key, kid, secret, configured)
  local ring = key_rings.load(key)
  local current = ring.current_kid
  if not current then
    server.call('HSET', key, 'current_kid', kid, 'secret:' .. kid, secret)
    return 'installed'
  end
  local stored = ring['secret:' .. current]
  if stored then return same(stored, secret) and 'matched' or 'mismatched' end
  if not configured or current ~= kid then return 'mismatched' end
  server.call('HSET', key, 'secret:' .. kid, secret)
  return 'repaired'
end

-- The reply of a rotation. Checks everything before the first write.
function key_rings.rotate(key, kid, secret, grace, now)
  local ring = key_rings.load(key)
  local current, stored = ring.current_kid, ring['secret:' .. kid]
  local in_use = kid == current or not key_rings.is_due(ring['expires_at:' .. kid], now)
  if stored and in_use and not same(stored, secret) then
    return reply.refuse('rotation_conflict', kid)
  end
  if kid == current then
    if not stored then server.call('HSET', key, 'secret:' .. kid, secret) end
    return reply.ok('noop', kid)
  end

  local removed, fields = 0, {'current_kid', kid, 'secret:' .. kid, secret}
  local expires_at_max = string.format('%.0f', now + grace)
  for field, expires_at in pairs(ring) do
    local old = string.match(field, '^expires_at:(.*)$')
    local is_due = old and key_rings.is_due(expires_at, now)
    -- The one that signs has no expiry, whatever an older library left behind.
    if is_due or old == kid then server.call('HDEL', key, field) end
    if is_due and old ~= current then
      server.call('HDEL', key, 'secret:' .. old)
      removed = removed + 1
    elseif old and not is_due and old ~= kid and old ~= current
      and tonumber(expires_at) > now + grace then
      -- A shorter grace also holds for secrets that earlier rotations left: it may be an emergency.
      fields[#fields + 1], fields[#fields + 2] = field, expires_at_max
    end
  end
  if current then
    for _, value in ipairs{'previous_kid', current, 'previous_expires_at', expires_at_max,
      'expires_at:' .. current, expires_at_max} do
      fields[#fields + 1] = value
    end
  end
  server.call('HSET', key, unpack(fields))
  return reply.ok('rotated', current or '', kid, tostring(removed))
end

-- Brings the ring of a partition to that of partition 0, if it is missing or missed a rotation. One that
-- differs in another way is left as it is.
function key_rings.join(key, flat, now)
  local ring, other = key_rings.load(key), {}
  for i = 1, #flat, 2 do other[flat[i]] = given(flat[i + 1]) end
  local current, leading = ring.current_kid, other.current_kid
  if not current then
    server.call('HSET', key, unpack(flat))
    return 'installed'
  end
  local ours, theirs = ring['secret:' .. current], other['secret:' .. current]
  if not theirs or ours and not same(ours, theirs) then return 'mismatched' end
  if not ours then server.call('HSET', key, 'secret:' .. current, theirs) end
  if current == leading then return ours and 'matched' or 'repaired' end

  local secret = other['secret:' .. leading]
  local expires_at = tonumber(other['expires_at:' .. current])
  if not secret or not expires_at then return 'mismatched' end
  local rotated = key_rings.rotate(key, leading, secret, math.max(expires_at - now, 0), now)
  return rotated[1] == 1 and 'repaired' or 'mismatched'
end

return key_rings
