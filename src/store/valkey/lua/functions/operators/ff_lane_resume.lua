-- Ends the pause of a lane.
--   keys   paused lanes
--   args   now, namespace and lane (joined by byte 30)
--   reply  OK was paused (1 or 0)
-- Safe to repeat.
commands.register('ff_lane_resume', function(KEYS, ARGV)
  local key, lane = KEYS[1], ARGV[2]

  local was_paused = server.call('HDEL', key, lane) == 1
  if was_paused then lanes.tell(key) end
  return reply.ok(was_paused and '1' or '0')
end)
