-- Functions that change something. Their replies end with the name of this run of the server: what one
-- run confirms to be on disk says nothing of what another, before a restart or a failover, had answered.
local commands = {}

local this_run

function commands.run()
  if not this_run then
    this_run = string.sub(string.match(call('INFO', 'server'), 'run_id:(%w+)') or '', 1, 12)
  end
  return this_run
end

function commands.register(name, command)
  server.register_function(name, function(KEYS, ARGV)
    local answer = command(KEYS, ARGV)
    answer[#answer + 1] = commands.run()
    return answer
  end)
end
