-- Takes back an execution's spending since the last reset.
--   keys   usage, by_exec:…, by_exec:index
--   args   budget_id, execution_id
--   reply  OK released, or OK noop
server.register_function('ff_release_budget', function(KEYS, ARGV)
  local key = string.match(KEYS[1] or '', '^(.*):usage$')
  local budget_id, execution_id = ARGV[1], ARGV[2]

  local read = arguments.reader()
  admitting.check_key(read, budgets.parse, key, budget_id or '', 'budget_id')
  read:text('execution_id', execution_id)
  if read.refused then return read.refused end
  local b = budgets.load(key, arguments.now())
  if not b then return reply.ok('noop') end

  local released = budgets.take_back(b, execution_id)
  budgets.tell_opening(b)
  return reply.ok(#released > 0 and 'released' or 'noop')
end)
