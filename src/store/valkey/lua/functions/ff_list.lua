-- Executions of a namespace, the newest first, in many partitions at once. No KEYS. ARGV: 1 namespace,
-- 2 newest created_at (inclusive), 3 oldest (inclusive), 4 how many of each partition at most, 5… tags.
-- Replies OK and for each partition with any: tag, and a list of short id, created_at.
server.register_function{
  function_name = 'ff_list',
  callback = function(_, ARGV)
    local found = reply.ok()
    for i = 5, #ARGV do
      local page = call('ZREVRANGEBYSCORE', keys.created(ARGV[i], ARGV[1]), ARGV[2], ARGV[3],
        'WITHSCORES', 'LIMIT', 0, ARGV[4])
      if #page > 0 then
        found[#found + 1] = ARGV[i]
        found[#found + 1] = page
      end
    end
    return found
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
