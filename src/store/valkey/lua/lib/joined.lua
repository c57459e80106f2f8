-- Commands for several executions in one call, which costs less than a call for each.
local joined = {}

-- An error of a command begins with its code, one of Lua does not.
local function error_reply(text)
  return {err = string.find(text, '^%u+ ') and text or 'ERR ' .. text}
end

-- KEYS are the cores, ARGV are the time, other arguments that all share, `shared` in all, and then `own` arguments of
-- each. command(core_key, ARGV, first) does it for one of them, whose own arguments begin behind `first`. The answer has
-- an answer of each; where one fails, the others stay as they are. All changes are told in one message.
function joined.register(name, shared, own, command)
  commands.register(name, function(KEYS, ARGV)
    ARGV[1] = arguments.time_text(arguments.now(ARGV[1]))
    local answers = {1, 'OK'}
    events.gather()
    for i = 1, (#ARGV - shared) / own do
      local fine, answer = pcall(command, KEYS[i], ARGV, shared + (i - 1) * own)
      answers[i + 2] = fine and answer or error_reply(tostring(answer))
    end
    events.tell_gathered(keys.tag_in(KEYS[1]))
    return answers
  end)
end

return joined
