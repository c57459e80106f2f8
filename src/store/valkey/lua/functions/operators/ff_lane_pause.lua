-- Pauses a lane, or gives its pause another reason.
--   keys   paused lanes
--   args   now, namespace and lane (joined by byte 30), by, reason, the most of one namespace, the most of all
--   reply  OK was paused before (1 or 0), its record (lib/lanes.lua) | resource_exhausted (store or namespace)
commands.register('ff_lane_pause', function(KEYS, ARGV)
  local key, now, lane, by, reason = KEYS[1], arguments.now(ARGV[1]), ARGV[2], ARGV[3], ARGV[4]
  local of_namespace_max, of_store_max = tonumber(ARGV[5]), tonumber(ARGV[6])

  local before = server.call('HGET', key, lane)
  local refused = not before and lanes.no_room(key, lane, of_namespace_max, of_store_max)
  if refused then return reply.refuse('resource_exhausted', refused) end

  local record = lanes.record(before and lanes.since(before) or string.format('%.0f', now), by, reason)
  if record ~= before then
    server.call('HSET', key, lane, record)
    lanes.tell(key)
  end
  return reply.ok(before and '1' or '0', record)
end)
