-- Sets tags of a flow.
--   keys   flow core, tags
--   args   key and value of each
--   reply  OK and how many
local pattern = '^[a-z][a-z0-9_]*%.[^.]'

-- Older programs kept tags in the core.
local function migrate(flow, tags_key)
  if flow.f.tags_migrated == '1' then return end
  for field, value in pairs(flow.f) do
    if string.find(field, pattern) then
      server.call('HSET', tags_key, field, value)
      flow.changed[field] = true
    end
  end
  for field in pairs(flow.changed) do flow.f[field] = nil end
  flows.put(flow, {tags_migrated = 1})
end

server.register_function('ff_set_flow_tags', function(KEYS, ARGV)
  local core_key = KEYS[1]

  if #ARGV == 0 or #ARGV % 2 == 1 then
    return reply.refuse('invalid_input', 'tags must be non-empty even-length key/value pairs')
  end
  local tag, id = keys.parse_flow(core_key or '')
  local flow = tag and flows.load(tag, id, arguments.now())
  if not flow then return flows.not_found() end
  for i = 1, #ARGV, 2 do
    if not string.find(ARGV[i], pattern) then return reply.refuse('invalid_tag_key', ARGV[i]) end
  end

  local tags_key = keys.flow(tag, id, 'tags')
  migrate(flow, tags_key)
  for i = 1, #ARGV, 1000 do
    server.call('HSET', tags_key, unpack(ARGV, i, math.min(i + 999, #ARGV)))
  end
  flows.put(flow, {has_tags = 1})
  flows.save(flow)
  return reply.ok(tostring(#ARGV / 2))
end)
