-- The workers that are alive. KEYS: workers. ARGV: 1 now. Replies OK and of each: worker and its record
-- (lib/workers.lua).
commands.register('ff_worker_list', function(KEYS, ARGV)
  local answer = reply.ok()
  workers.each(KEYS[1], arguments.now(ARGV[1]), function(name, worker)
    answer[#answer + 1] = name
    for _, value in ipairs(workers.values(worker)) do answer[#answer + 1] = value end
  end)
  return answer
end)
