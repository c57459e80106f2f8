-- Sends a signal to a waitpoint that no suspension waits for yet: it counts when one does. To a waitpoint that is
-- waited for already, it is as ff_deliver_signal.
--   keys   core, condition, waitpoint's signals, execution's signals, signal, its payload, sigdedup (or
--          ff:noop:…), waitpoint, key ring
--   args   as of ff_deliver_signal; resume_delay_ms is not used
--   reply  as of ff_deliver_signal
server.register_function('ff_buffer_signal_for_pending_waitpoint', function(KEYS, ARGV)
  local core_key, ring_key = KEYS[1], KEYS[9]

  local signal, refused = waitpoints.read_signal(ARGV)
  if refused then return refused end
  signal.resume_delay = nil
  local x
  x, refused = contract.load(core_key, ARGV[2])
  if not x then return refused end
  local waits = suspending.load(x)
  refused = waitpoints.check_token(x, waitpoints.of(x, waits, signal.waitpoint_id), signal, ring_key)
  if refused then return refused end
  local before = waitpoints.repeated(x, signal)
  if before then return before end
  if x.f.lifecycle_phase == 'terminal' then return reply.refuse('target_not_signalable') end
  local waitpoint = suspending.find(waits, signal.waitpoint_id)
  if not waitpoint or not suspending.is_open(waits, waitpoint) then
    return reply.refuse('waitpoint_closed')
  end
  return waitpoints.known(x, signal) or waitpoints.accept(x, waits, signal)
end)
