-- Sets and removes tags.
--   keys   core
--   args   now, origin, tags_max, how many to set, then key and value of each, then the keys to remove
--   reply  OK event, then key and value of all tags
local first_tag = 5

-- The tags after the change, as a table.
local function changed(before, ARGV, set_count)
  local tags = {}
  for name, value in pairs(before) do tags[name] = value end
  local first_removed = first_tag + 2 * set_count
  for i = first_tag, first_removed - 1, 2 do tags[ARGV[i]] = ARGV[i + 1] end
  for i = first_removed, #ARGV do tags[ARGV[i]] = nil end
  return tags
end

local function as_table(flat)
  local fields = {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return fields
end

commands.register('ff_set_tags', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, tags_max, set_count = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local key = keys.of_execution(x.tag, x.id, 'tags')
  local before = as_table(server.call('HGETALL', key))
  local tags = changed(before, ARGV, set_count)
  local set, gone, all = {}, {}, {}
  for name, value in pairs(tags) do
    all[#all + 1], all[#all + 2] = name, value
    if before[name] ~= value then set[#set + 1], set[#set + 2] = name, value end
  end
  for name in pairs(before) do
    if not tags[name] then gone[#gone + 1] = name end
  end
  local count = #all / 2
  if count > tags_max then return reply.refuse('invalid_input', tostring(count)) end

  local event = ''
  if #set > 0 or #gone > 0 then
    if #set > 0 then server.call('HSET', key, unpack(set)) end
    if #gone > 0 then server.call('HDEL', key, unpack(gone)) end
    execution.put(x, {last_mutation_at = x.at, has_tags = 1})
    execution.save(x)
    event = events.tell(x, 'tags_changed', origin)
  end
  return reply.ok(event, unpack(all))
end)
