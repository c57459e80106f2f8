-- Ended executions that need not be kept any longer, in many partitions at once. No KEYS. ARGV: 1 now,
-- 2 how many of each partition at most, 3… tags. Replies OK, the time when the first of the others is
-- due ('' if none is known) and the ids.
server.register_function{
  function_name = 'ff_sweep_retention',
  callback = function(_, ARGV)
    local now, most = tonumber(ARGV[1]), tonumber(ARGV[2])
    local found, next_due = reply.ok(''), nil
    for i = 3, #ARGV do
      local entries = call('ZRANGE', keys.index(ARGV[i], 'retention'), 0, most, 'WITHSCORES')
      for j = 1, #entries, 2 do
        local due = tonumber(entries[j + 1])
        if due <= now and (j + 1) / 2 <= most then
          found[#found + 1] = entries[j]
        else
          if not next_due or due < next_due then next_due = due end
          break
        end
      end
    end
    if next_due then found[3] = string.format('%.0f', next_due) end
    return found
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
