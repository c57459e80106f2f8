-- JSON Merge Patch (RFC 7396) on JSON text, as core/streams/merge_patch.cpp: scalars and lists stay the text that
-- they were, objects are read only as far as patches reach into them. All texts are valid JSON.
--
-- A value is {text}, or {object = {names, values, places}} once it was read: members in order, with names as they are
-- written; places by their names without escapes. The value of an erased member is false.
local merge_patch = {}

local function behind_space(text, at)
  return string.find(text, '[^ \t\r\n]', at) or #text + 1
end

-- `at` is its first quote.
local function behind_string(text, at)
  at = at + 1
  while true do
    local found = string.find(text, '["\\]', at)
    if not found then return #text + 1 end
    if string.byte(text, found) == 34 then return found + 1 end
    at = found + 2
  end
end

local steps = {[123] = 1, [91] = 1, [125] = -1, [93] = -1}  -- { [ } ]

local function behind_structure(text, at)
  local depth = 0
  while true do
    local found = string.find(text, '[{}%[%]"]', at)
    if not found then return #text + 1 end
    local step = steps[string.byte(text, found)]
    if step then
      at, depth = found + 1, depth + step
      if depth == 0 then return at end
    else
      at = behind_string(text, found)
    end
  end
end

local function behind_value(text, at)
  local first = string.byte(text, at)
  if first == 34 then return behind_string(text, at) end
  if first == 123 or first == 91 then return behind_structure(text, at) end
  return string.find(text, '[%],} \t\r\n]', at) or #text + 1
end

local function trimmed(text)
  local first = behind_space(text, 1)
  return string.sub(text, first, behind_value(text, first) - 1)
end

-- A name as it is meant: two texts can name the same member.
local function plain_name(quoted)
  if not string.find(quoted, '\\', 1, true) then return string.sub(quoted, 2, -2) end
  return cjson.decode('[' .. quoted .. ']')[1]
end

-- Of a member that is added if there is none, with the value null.
local function member(object, name)
  local plain = plain_name(name)
  local place = object.places[plain]
  if not place then
    place = #object.names + 1
    object.names[place], object.values[place], object.places[plain] = name, {text = 'null'}, place
  end
  return place
end

local function erase(object, name)
  local plain = plain_name(name)
  local place = object.places[plain]
  if place then object.values[place], object.places[plain] = false, nil end
end

local function empty_object()
  return {names = {}, values = {}, places = {}}
end

-- The last of several members with one name counts.
local function read_object(text)
  local object, at = empty_object(), behind_space(text, 2)
  while string.byte(text, at) == 34 do
    local name_end = behind_string(text, at)
    local first = behind_space(text, behind_space(text, name_end) + 1)
    local value_end = behind_value(text, first)
    object.values[member(object, string.sub(text, at, name_end - 1))] = {text = string.sub(text, first, value_end - 1)}
    at = behind_space(text, value_end)
    if string.byte(text, at) == 44 then at = behind_space(text, at + 1) end
  end
  return object
end

local function is_object(text)
  return string.byte(text) == 123
end

local function merge_into(target, patch)
  if not is_object(patch) then
    target.text, target.object = patch, nil
    return
  end
  local changes, was_object = read_object(patch), target.object or is_object(target.text)
  if was_object and #changes.names == 0 then return end
  if not target.object then
    target.object = was_object and read_object(target.text) or empty_object()
  end
  for i, name in ipairs(changes.names) do
    local text = changes.values[i].text
    if text == 'null' then
      erase(target.object, name)
    else
      merge_into(target.object.values[member(target.object, name)], text)
    end
  end
end

local function write(value, parts)
  local object = value.object
  if not object then
    parts[#parts + 1] = value.text
    return
  end
  local before = '{'
  for i, name in ipairs(object.names) do
    if object.values[i] then
      parts[#parts + 1] = before .. name .. ':'
      write(object.values[i], parts)
      before = ','
    end
  end
  parts[#parts + 1] = before == '{' and '{}' or '}'
end

function merge_patch.document(text)
  return {text = trimmed(text)}
end

function merge_patch.merge(document, patch)
  merge_into(document, trimmed(patch))
end

function merge_patch.text(document)
  local parts = {}
  write(document, parts)
  return table.concat(parts)
end

return merge_patch
