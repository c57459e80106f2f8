-- JSON Merge Patch (RFC 7396) on JSON text, as core/streams/merge_patch.cpp: scalars and lists stay the text that
-- they were, objects are read only as far as patches reach into them. All texts are valid JSON.
--
-- A value is its text, or {names, values, places} of an object that was read: members in order, with names as they are
-- written, without quotes; places by their names without escapes. The value of an erased member is false.
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

local function empty_object()
  return {names = {}, values = {}, places = {}}
end

-- Names as they are meant, by their places: of those that are written with escapes. Two texts can name the same member.
local function plain_names(names, escaped)
  local quoted, plain = {}, {}
  for i, place in ipairs(escaped) do quoted[i] = '"' .. names[place] .. '"' end
  for i, name in ipairs(cjson.decode('[' .. table.concat(quoted, ',') .. ']')) do plain[escaped[i]] = name end
  return plain
end

-- Most members of large objects have a name without escapes, and a number, a word or a text without escapes.
local plain_name, before_value = '^"([^"\\]*)"', '[ \t\r\n]*:[ \t\r\n]*'
local short_value, plain_text = '([%w.+-]+)[ \t\r\n]*()', '("[^"\\]*")[ \t\r\n]*()'
local with_short_value, with_plain_text = plain_name .. before_value .. short_value, plain_name .. before_value .. plain_text
local behind_name = '^' .. before_value .. short_value

-- Name, value and the place behind the member at a quote.
local function read_member(text, at)
  local name, value, behind = string.match(text, with_short_value, at)
  if name then return name, value, behind end
  name, value, behind = string.match(text, with_plain_text, at)
  if name then return name, value, behind end
  local name_end = behind_string(text, at)
  name = string.sub(text, at + 1, name_end - 2)
  value, behind = string.match(text, behind_name, name_end)
  if value then return name, value, behind end
  local first = behind_space(text, behind_space(text, name_end) + 1)
  local value_end = behind_value(text, first)
  return name, string.sub(text, first, value_end - 1), behind_space(text, value_end)
end

-- The last of several members with one name counts. `plain` has the names of escaped ones.
local function read_object(text)
  local object, at = empty_object(), behind_space(text, 2)
  local names, values, places, count, escaped = object.names, object.values, object.places, 0, {}
  local has_escapes = string.find(text, '\\', 1, true)
  while string.byte(text, at) == 34 do
    count = count + 1
    names[count], values[count], at = read_member(text, at)
    if has_escapes and string.find(names[count], '\\', 1, true) then escaped[#escaped + 1] = count end
    if string.byte(text, at) == 44 then at = behind_space(text, at + 1) end
  end
  object.plain = escaped[1] and plain_names(names, escaped) or {}
  for i = 1, count do
    local name = object.plain[i] or names[i]
    local place = places[name]
    if place then
      values[place], values[i] = values[i], false
    else
      places[name] = i
    end
  end
  return object
end

local function is_object(text)
  return string.byte(text) == 123
end

-- A value after a patch. Objects that were read change in place.
local function merged(value, patch)
  if not is_object(patch) then return patch end
  local changes, is_read = read_object(patch), type(value) == 'table'
  local was_object = is_read or is_object(value)
  if was_object and not changes.names[1] then return value end
  local target = is_read and value or was_object and read_object(value) or empty_object()
  local names, values, places = target.names, target.values, target.places
  for i, name in ipairs(changes.names) do
    local change, plain = changes.values[i], changes.plain[i] or name
    local place = places[plain]
    if change == 'null' then
      if place then values[place], places[plain] = false, nil end
    elseif change then
      if not place then
        place = #names + 1
        names[place], values[place], places[plain] = name, 'null', place
      end
      values[place] = merged(values[place], change)
    end
  end
  return target
end

-- Adds a value to the parts of a text, of which there are `count`; returns how many there are then.
local function write(value, parts, count)
  if type(value) == 'string' then
    parts[count + 1] = value
    return count + 1
  end
  local before = '{"'
  for i, name in ipairs(value.names) do
    local inner = value.values[i]
    if inner then
      parts[count + 1], parts[count + 2], parts[count + 3] = before, name, '":'
      count, before = write(inner, parts, count + 3), ',"'
    end
  end
  parts[count + 1] = before == '{"' and '{}' or '}'
  return count + 1
end

function merge_patch.document(text)
  return {value = trimmed(text)}
end

function merge_patch.merge(document, patch)
  document.value = merged(document.value, trimmed(patch))
end

function merge_patch.text(document)
  local parts = {}
  write(document.value, parts, 0)
  return table.concat(parts)
end

return merge_patch
