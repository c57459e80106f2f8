-- Executions that the workers of a namespace hold, in many partitions at once.
--   keys   none
--   args   namespace, worker (empty: all), executions_max, then tags
--   reply  as lib/sweeping.lua, for each: worker, id
server.register_function{
  function_name = 'ff_sweep_held',
  callback = function(_, ARGV)
    local ns, only, executions_max = ARGV[1], ARGV[2], tonumber(ARGV[3])

    local count = 0
    return sweeping.each(ARGV, 4, function(tag, found)
      for _, id in ipairs(server.call('ZRANGE', keys.index(tag, 'lease_expiry'), 0, -1)) do
        if count >= executions_max then return end
        local f = server.call('HMGET', keys.of_execution(tag, id, 'core'), 'namespace', 'current_worker_id')
        local worker = f[2]
        if f[1] == ns and worker and (only == '' or only == worker) then
          found[#found + 1] = worker
          found[#found + 1] = id
          count = count + 1
        end
      end
    end)
  end,
  flags = {'no-writes', 'allow-cross-slot-keys'},
}
