-- Whether a lease holds. KEYS: core. ARGV: 1 now, 2 lease_id, 3 lease_epoch, 4 attempt_id. Replies OK, or
-- refuses as a change by its worker would be.
server.register_function{
  function_name = 'ff_check_lease',
  callback = function(KEYS, ARGV)
    local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
    if not x then return reply.refuse('execution_not_found') end
    return leases.check(x, ARGV[2], ARGV[3], ARGV[4]) or reply.ok()
  end,
  flags = {'no-writes'},
}
