-- Grants: an execution set aside for one worker, which is about to claim it.
local grants = {}

local function key_of(x)
  return keys.of_execution(x.tag, x.id, 'claim_grant')
end

-- `want` has worker, instance, ttl, and maybe admission (by its quota), capability_hash, route,
-- admission_summary.
function grants.issue(x, want)
  local expires_at = x.now + want.ttl
  local record = {
    'worker_id', want.worker, 'worker_instance_id', want.instance, 'lane_id', x.f.lane_id,
    'created_at', x.now, 'grant_expires_at', expires_at,
  }
  for field, value in pairs({
    capability_hash = want.capability_hash, route_snapshot_json = want.route,
    admission_summary = want.admission_summary,
  }) do
    if value ~= '' then
      record[#record + 1] = field
      record[#record + 1] = value
    end
  end
  server.call('DEL', key_of(x))
  server.call('HSET', key_of(x), unpack(record))
  if blocking.is_blocked(x) then execution.become_waiting(x) end
  execution.put(x, {grant_expires_at = expires_at, granted_to = want.worker})
  execution.put_text(x, 'admission', want.admission)
end

-- The server ends it too, for whoever looks at the key alone.
function grants.let_expire(x)
  server.call('PEXPIREAT', key_of(x), x.f.grant_expires_at)
end

-- Worker of the grant, and whether the grant has expired. nil: there is none.
function grants.of(x)
  local stored = server.call('HMGET', key_of(x), 'worker_id', 'grant_expires_at')
  if not stored[1] then return nil end
  local expires_at = tonumber(stored[2])
  return {worker = stored[1], is_over = expires_at ~= nil and expires_at <= x.now}
end

function grants.is_live(x)
  local grant = grants.of(x)
  return grant ~= nil and not grant.is_over
end

function grants.remove(x)
  server.call('DEL', key_of(x))
  execution.drop(x, 'grant_expires_at', 'granted_to')
end

return grants
