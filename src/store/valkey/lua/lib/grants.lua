-- Grants: an execution set aside for one worker, which is about to claim it.
local grants = {}

-- `want` has worker, instance, ttl, and maybe lane, capability_hash, route, admission.
function grants.issue(x, want)
  local expires_at = x.now + want.ttl
  local record = {
    'worker_id', want.worker, 'worker_instance_id', want.instance, 'lane_id', x.f.lane_id,
    'created_at', x.now, 'grant_expires_at', expires_at,
  }
  for field, value in pairs({
    capability_hash = want.capability_hash, route_snapshot_json = want.route,
    admission_summary = want.admission,
  }) do
    if value ~= '' then
      record[#record + 1] = field
      record[#record + 1] = value
    end
  end
  local key = keys.of_execution(x.tag, x.id, 'claim_grant')
  call('DEL', key)
  call('HSET', key, unpack(record))
  execution.put(x, {grant_expires_at = expires_at, granted_to = want.worker})
end
