-- Sets tags.
--   keys   core, tags
--   args   key and value of each; a key has a prefix before its first dot, as in `team.name`
--   reply  OK and how many
server.register_function('ff_set_execution_tags', function(KEYS, ARGV)
  local core_key = KEYS[1]

  if #ARGV == 0 or #ARGV % 2 == 1 then
    return reply.refuse('invalid_input', 'tags must be non-empty even-length key/value pairs')
  end
  local _, id = keys.parse_core(core_key or '')
  local x, refused = contract.load(core_key, id)
  if not x then return refused end
  for i = 1, #ARGV, 2 do
    if not string.find(ARGV[i], '^[a-z][a-z0-9_]*%.[^.]') then
      return reply.refuse('invalid_tag_key', ARGV[i])
    end
  end

  creation.set_tags(x, ARGV, 1)
  execution.put(x, {last_mutation_at = x.now, has_tags = 1})
  contract.save(x, 'tags_changed')
  return reply.ok(tostring(#ARGV / 2))
end)
