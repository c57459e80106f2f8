-- The paused lanes: one hash, namespace and lane (joined by byte 30) → record, and the field `version`, which every
-- change raises. A record is three texts, joined by byte 31: since, by, reason.
local lanes = {}

function lanes.record(since, by, reason)
  return since .. '\31' .. by .. '\31' .. reason
end

function lanes.since(record)
  return string.match(record, '^%d+')
end

-- Whose number is reached, if there may not be one more: `store` or `namespace`.
function lanes.no_room(key, lane, of_namespace_max, of_store_max)
  if server.call('HLEN', key) - 1 >= of_store_max then return 'store' end
  local prefix, count = string.match(lane, '^[^\30]*\30'), 0
  for _, name in ipairs(server.call('HKEYS', key)) do
    if string.sub(name, 1, #prefix) == prefix then count = count + 1 end
  end
  return count >= of_namespace_max and 'namespace' or nil
end

-- Tells every program of a change. A refused publish fails nothing: they look at the version, too.
function lanes.tell(key)
  local version = server.call('HINCRBY', key, 'version', 1)
  server.pcall('SPUBLISH', keys.events(keys.tag_in(key)), 'lanes ' .. version)
end

return lanes
