-- The oldest of the executions in a queue that wait for a worker, whatever their priority.
--   keys   any key of the partition
--   args   now, queue, how many priorities to look at, the lowest first, and how many executions of each
--   reply  OK and the values of waiting.look, with kinds and fairness keys
server.register_function{
  function_name = 'ff_look_oldest',
  callback = function(KEYS, ARGV)
    local tag, now = keys.tag_in(KEYS[1]), arguments.now(ARGV[1])

    local answer = reply.ok()
    waiting.oldest(answer, tag, ARGV[2], now, tonumber(ARGV[3]), tonumber(ARGV[4]))
    return answer
  end,
  flags = {'no-writes'},
}
