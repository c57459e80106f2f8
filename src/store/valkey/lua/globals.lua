-- The globals that the library uses, as locals: Valkey finds a global of a library by way of a metatable, which
-- takes several times as long. They are not there yet while it is loaded, so the first call finds them.
local registry, server = server, {}
local bit, cjson, cmsgpack, error, ipairs, math, next, os, pairs, pcall, setmetatable, string, struct, table
local tonumber, tostring, type, unpack
local are_found = false

-- Of lib/events.lua. Each call begins without: one that was killed may have left it.
local gathered

local function find_globals()
  local all = _G
  bit, cjson, cmsgpack, struct = all.bit, all.cjson, all.cmsgpack, all.struct
  math, os, string, table = all.math, all.os, all.string, all.table
  error, pcall, setmetatable, type = all.error, all.pcall, all.setmetatable, all.type
  ipairs, next, pairs, unpack = all.ipairs, all.next, all.pairs, all.unpack
  tonumber, tostring = all.tonumber, all.tostring
  server = all.server
  are_found = true
end

local function with_globals(callback)
  return function(KEYS, ARGV)
    if not are_found then find_globals() end
    gathered = nil
    return callback(KEYS, ARGV)
  end
end

-- Takes what Valkey's own takes: a name and a function, or a table.
function server.register_function(name, callback)
  if callback then return registry.register_function(name, with_globals(callback)) end
  name.callback = with_globals(name.callback)
  registry.register_function(name)
end
