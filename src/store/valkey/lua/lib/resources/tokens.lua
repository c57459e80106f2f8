-- Waitpoint tokens: <kid>:<digest>, where the digest is the HMAC-SHA-1 of
-- <waitpoint_id>|<waitpoint_key>|<created_at> under the secret of that kid, in 40 hex digits.
local tokens = {}

local digest_size = 40

local function given(value)
  return value and value ~= '' and value or nil
end

local function digest(secret, waitpoint_id, waitpoint_key, created_at)
  local created = tostring(tonumber(created_at) or 0)
  return hmac.sha1(secret, table.concat({waitpoint_id, waitpoint_key, created}, '|'))
end

-- The token of a waitpoint, or nil and the refusal.
function tokens.mint(ring_key, waitpoint_id, waitpoint_key, created_at)
  if not given(ring_key) then return nil, reply.refuse('invalid_keys_missing_hmac') end
  local kid = given(server.call('HGET', ring_key, 'current_kid'))
  local stored = kid and given(server.call('HGET', ring_key, 'secret:' .. kid))
  if not stored then return nil, reply.refuse('hmac_secret_not_initialized') end
  local secret = hmac.from_hex(stored)
  if not secret then return nil, reply.refuse('invalid_secret') end
  return kid .. ':' .. digest(secret, waitpoint_id, waitpoint_key, created_at)
end

-- Nil if the token is valid for the waitpoint, otherwise the refusal.
function tokens.check(ring_key, token, waitpoint_id, waitpoint_key, created_at, now)
  if not given(ring_key) then return reply.refuse('invalid_keys_missing_hmac') end
  if not given(token) then return reply.refuse('missing_token') end
  local kid, signature = string.match(token, '^([^:]+):(.+)$')
  if not kid or #signature ~= digest_size then return reply.refuse('invalid_token') end

  local current, stored, expires_at = unpack(server.call('HMGET', ring_key, 'current_kid',
    'secret:' .. kid, 'expires_at:' .. kid))
  if not given(current) then return reply.refuse('hmac_secret_not_initialized') end
  if not given(stored) then return reply.refuse('invalid_token') end
  if kid ~= current and key_rings.is_due(expires_at, now) then
    return reply.refuse('token_expired')
  end
  local secret = hmac.from_hex(stored)
  if not secret then return reply.refuse('invalid_secret') end
  if not hmac.equal(digest(secret, waitpoint_id, waitpoint_key, created_at), signature) then
    return reply.refuse('invalid_token')
  end
  return nil
end

return tokens
