-- KEYS: 1 core, 2 tags. ARGV: key and value of each. Replies OK and how many. A key has a prefix before
-- its first dot, as in `team.name`.
server.register_function('ff_set_execution_tags', function(KEYS, ARGV)
  if #ARGV == 0 or #ARGV % 2 == 1 then
    return reply.refuse('invalid_input', 'tags must be non-empty even-length key/value pairs')
  end
  local _, id = keys.parse_core(KEYS[1] or '')
  local x, refused = contract.load(KEYS[1], id)
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
