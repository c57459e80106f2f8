-- Whether a lease holds.
--   keys   core
--   args   now, lease_id, lease_epoch, attempt_id
--   reply  OK, or the refusal that a change by its worker would get
server.register_function{
  function_name = 'ff_check_lease',
  callback = function(KEYS, ARGV)
    local core_key = KEYS[1]
    local now, lease_id, lease_epoch, attempt_id = unpack(ARGV)

    local x = execution.load(core_key, arguments.now(now))
    if not x then return reply.refuse('execution_not_found') end
    return leases.check(x, lease_id, lease_epoch, attempt_id) or reply.ok()
  end,
  flags = {'no-writes'},
}
