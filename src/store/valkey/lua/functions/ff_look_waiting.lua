-- The executions that stand behind another one in an index of a queue. KEYS: any key of the partition.
-- ARGV: 1 queue, 2 index (eligible or reclaimable), 3 id and 4 score of that other one, 5 how many entries to
-- look at, 6 how many executions with the same needs at most. Replies OK and what waiting.look tells; only
-- OK if the index is empty.
server.register_function{
  function_name = 'ff_look_waiting',
  callback = function(KEYS, ARGV)
    local answer = reply.ok()
    waiting.look(answer, string.match(KEYS[1], '{[^}]*}'), ARGV[1], ARGV[2], {
      after_id = ARGV[3], after_score = ARGV[4], entries = tonumber(ARGV[5]), each = tonumber(ARGV[6]),
    })
    return answer
  end,
  flags = {'no-writes'},
}
