-- Functions that change something: all checks first, then all writes, then events. Their replies end with
-- the name of this run of the server: when it confirms that its writes are on disk, that does not cover the
-- replies of a run before a restart or a failover.
local commands = {}

local this_run

function commands.run()
  if not this_run then
    this_run = string.sub(string.match(server.call('INFO', 'server'), 'run_id:(%w+)') or '', 1, 12)
  end
  return this_run
end

function commands.register(name, command)
  server.register_function(name, function(KEYS, ARGV)
    local run = commands.run()  -- may fail for want of a right: before the first write
    local answer = command(KEYS, ARGV)
    answer[#answer + 1] = run
    return answer
  end)
end

return commands
