-- KEYS: core. ARGV: now, origin, 3 how many tags at most, 4 how many to set, then key and value of each,
-- then the keys to remove. Replies OK event and all tags after it.
commands.register('ff_set_tags', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local key = keys.of_execution(x.tag, x.id, 'tags')
  local before, tags, count = {}, {}, 0
  local stored = call('HGETALL', key)
  for i = 1, #stored, 2 do
    before[stored[i]], tags[stored[i]] = stored[i + 1], stored[i + 1]
  end
  local last = 4 + 2 * tonumber(ARGV[4])
  for i = 5, last, 2 do tags[ARGV[i]] = ARGV[i + 1] end
  for i = last + 1, #ARGV do tags[ARGV[i]] = nil end
  local set, gone = {}, {}
  for name, value in pairs(tags) do
    count = count + 1
    if before[name] ~= value then set[#set + 1], set[#set + 2] = name, value end
  end
  for name in pairs(before) do
    if not tags[name] then gone[#gone + 1] = name end
  end
  if count > tonumber(ARGV[3]) then return reply.refuse('invalid_input', tostring(count)) end

  local event = ''
  if #set > 0 or #gone > 0 then
    if #set > 0 then call('HSET', key, unpack(set)) end
    if #gone > 0 then call('HDEL', key, unpack(gone)) end
    execution.put(x, {last_mutation_at = x.at, has_tags = 1})
    execution.save(x)
    event = events.tell(x, 'tags_changed', ARGV[2])
  end
  local answer = reply.ok(event)
  for name, value in pairs(tags) do
    answer[#answer + 1] = name
    answer[#answer + 1] = value
  end
  return answer
end)
