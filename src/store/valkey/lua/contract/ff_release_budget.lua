-- Takes back what an execution spent since the last reset. KEYS: 1 usage, 2 by_exec:…, 3 by_exec:index.
-- ARGV: 1 budget_id, 2 execution_id. Replies OK released, or OK noop.
server.register_function('ff_release_budget', function(KEYS, ARGV)
  local read = arguments.reader()
  local key = string.match(KEYS[1] or '', '^(.*):usage$')
  admitting.check_key(read, budgets.parse, key, ARGV[1] or '', 'budget_id')
  local execution_id = read:text('execution_id', ARGV[2])
  if read.refused then return read.refused end
  local b = budgets.load(key, arguments.now())
  local released = b and budgets.take_back(b, execution_id) or {}
  return reply.ok(#released > 0 and 'released' or 'noop')
end)
