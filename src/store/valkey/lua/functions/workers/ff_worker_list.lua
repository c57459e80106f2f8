-- The workers that are alive. Removes the expired ones.
--   keys   workers
--   args   now
--   reply  OK, of each: worker and its record (lib/workers.lua)
commands.register('ff_worker_list', function(KEYS, ARGV)
  local key, now = KEYS[1], arguments.now(ARGV[1])

  local answer = reply.ok()
  local expired = workers.each(key, now, function(name, worker)
    answer[#answer + 1] = name
    for _, value in ipairs(workers.values(worker)) do answer[#answer + 1] = value end
  end)
  workers.forget_all(key, expired)
  return answer
end)
