-- The executions behind another one in an index of a queue.
--   keys   any key of the partition
--   args   queue, index (eligible or reclaimable), id and score of that other one, entries_max (to look
--          at), each_max (executions with the same needs, and the same kind if kinds are given); optional:
--          the kinds that are looked for, joined by byte 31, or '' for all; then 'shares' for fairness keys, too
--   reply  OK and the values of waiting.look; only OK if the index is empty
server.register_function{
  function_name = 'ff_look_waiting',
  callback = function(KEYS, ARGV)
    local tag = keys.tag_in(KEYS[1])
    local queue, index, after_id, after_score, entries_max, each_max, kinds, shares = unpack(ARGV)

    local answer = reply.ok()
    waiting.look(answer, tag, queue, index, {
      after_id = after_id, after_score = after_score, entries = tonumber(entries_max),
      each = tonumber(each_max), kinds = kinds and waiting.kinds_in(kinds), any_kind = kinds == '',
      shares = shares == 'shares',
    })
    return answer
  end,
  flags = {'no-writes'},
}
