-- Gives an execution back until a time; its attempt continues then.
--   keys   core, attempt, lease:current, lease:history, lease_expiry, worker leases, lane active, lane
--          delayed, attempt_timeout
--   args   execution_id, lease_id, lease_epoch, attempt_id, delay_until, source
--   reply  OK delay_until
server.register_function('ff_delay_execution', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local id, delay_until, source = ARGV[1], ARGV[5], ARGV[6]
  local fence = {lease_id = ARGV[2], epoch = ARGV[3], attempt_id = ARGV[4]}

  local read = arguments.reader()
  local due = read:time('delay_until', delay_until)
  if read.refused then return read.refused end
  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  refused = fencing.check(x, fence, source)
  if refused then return refused end

  pausing.pause(x, 'worker_delay', due)
  pausing.delay(x, due)  -- also when it is due already
  contract.save(x, 'delayed')
  return reply.ok(string.format('%.0f', due))
end)
