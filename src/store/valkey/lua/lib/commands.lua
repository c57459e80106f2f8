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

-- A command for several executions in one call, which costs less than a call for each: KEYS are their cores, ARGV are
-- the time, other arguments that all share, `shared` in all, and then `own` arguments of each. command(core_key, ARGV,
-- first) does it for one of them, whose own arguments begin behind `first`. The answer has an answer of each; where one
-- fails, the others stay as they are.
function commands.register_many(name, shared, own, command)
  commands.register(name, function(KEYS, ARGV)
    ARGV[1] = arguments.time_text(arguments.now(ARGV[1]))
    local answers = {1, 'OK'}
    for i = 1, (#ARGV - shared) / own do
      local fine, answer = pcall(command, KEYS[i], ARGV, shared + (i - 1) * own)
      answers[i + 2] = (fine or type(answer) == 'table') and answer or {err = 'ERR ' .. tostring(answer)}
    end
    return answers
  end)
end

return commands
