-- Gives an execution back until a time; its attempt goes on then. KEYS: 1 core, 2 attempt,
-- 3 lease:current, 4 lease:history, 5 lease_expiry, 6 worker leases, 7 lane active, 8 lane delayed,
-- 9 attempt_timeout. ARGV: 1 execution_id, 2 lease_id, 3 lease_epoch, 4 attempt_id, 5 delay_until,
-- 6 source. Replies OK delay_until.
server.register_function('ff_delay_execution', function(KEYS, ARGV)
  local read = arguments.reader()
  local due = read:time('delay_until', ARGV[5])
  if read.refused then return read.refused end
  local x, refused = contract.load(KEYS[1], ARGV[1])
  if not x then return refused end
  local fence = {lease_id = ARGV[2], epoch = ARGV[3], attempt_id = ARGV[4]}
  refused = fencing.check(x, fence, ARGV[6])
  if refused then return refused end

  pausing.pause(x, 'worker_delay', due)
  pausing.delay(x, due)  -- also when it is due already
  contract.save(x, 'delayed')
  return reply.ok(string.format('%.0f', due))
end)
