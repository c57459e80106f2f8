-- Rolling summaries of attempts, as the contract has them: a JSON document in the hash ff:attempt:T:E:I:summary, to
-- which patches (RFC 7396) are applied. Numbers, empty lists and escapes stay the text that they were.
--
-- A patch cannot set a member to null, which erases it: the text "__ff_null__" becomes null in the document. Spelled
-- with an escape, such as "__ff_null_\u005f", it is that text.
local summaries = {}

local document_bytes_max = 256 * 1024
local depth_max = 17  -- of objects in a patch
local patch_kind = 'json-merge-patch'

local function is_number(text)
  local digits = string.match(text, '^%-?(%d+)$') or string.match(text, '^%-?(%d+)%.%d+$')
    or string.match(text, '^%-?(%d+)[eE][+-]?%d+$') or string.match(text, '^%-?(%d+)%.%d+[eE][+-]?%d+$')
  return digits and (digits == '0' or string.sub(digits, 1, 1) ~= '0')
end

local words = {['true'] = true, ['false'] = true, ['null'] = true}

-- The text with 0 for every string; nil if a string does not end or has a control character.
local function without_strings(text)
  local parts, at = {}, 1
  while true do
    local first = string.find(text, '"', at, true)
    if not first then break end
    parts[#parts + 1] = string.sub(text, at, first - 1) .. '0'
    at = first + 1
    while true do
      local found = string.find(text, '[%z\1-\31"\\]', at)
      local byte = found and string.byte(text, found)
      if byte == 34 then
        at = found + 1
        break
      elseif byte ~= 92 then
        return nil
      end
      at = found + 2
    end
  end
  return table.concat(parts) .. string.sub(text, at)
end

-- The text without its strings if it is JSON. The decoder takes numbers, names and strings that are not.
local function structure_of(text)
  if not pcall(cjson.decode, text) or not attempt_streams.is_utf8(text) then return nil end
  local structure = without_strings(text)
  for word in string.gmatch(structure or '?', '[^%s,:%[%]{}]+') do
    if not words[word] and not is_number(word) then return nil end
  end
  return structure
end

-- How deep objects stand in objects. Lists and empty objects are values as a whole.
local function depth_of(structure)
  local deepest, objects, lists = 0, 0, 0
  for bracket in string.gmatch((string.gsub(structure, '{%s*}', '0')), '[%[%]{}]') do
    if bracket == '[' then
      lists = lists + 1
    elseif bracket == ']' then
      lists = lists - 1
    elseif lists == 0 then
      objects = objects + (bracket == '{' and 1 or -1)
      deepest = math.max(deepest, objects)
    end
  end
  return deepest
end

-- The patch as an object, or nil and the refusal.
local function check_patch(text)
  local structure = structure_of(text)
  if not structure then return nil, reply.refuse('invalid_input', 'patch payload is not valid JSON') end
  if string.find(structure, '^%s*%[%s*%]%s*$') then return '{}' end
  if not string.find(structure, '^%s*{') then
    return nil, reply.refuse('invalid_input', 'patch must be a JSON object')
  end
  return text, depth_of(structure) > depth_max and reply.refuse('invalid_input', 'patch_depth_exceeded')
end

local function with_nulls(document)
  document = string.gsub(document, '([%[,:]%s*)"__ff_null__"(%s*[,%]}])', '%1null%2')
  return (string.gsub(document, '([%[,:]%s*)"__ff_null__"(%s*[,%]}])', '%1null%2'))  -- neighbours share a comma
end

-- The summary of an attempt with the frame's patch applied, or nil and the refusal. Writes nothing. Without an index
-- there is no key for it.
function summaries.prepare(x, index, frame)
  if not index then return nil, reply.refuse('invalid_input', 'summary mode requires stream_summary key') end
  if frame.patch_kind ~= '' and frame.patch_kind ~= patch_kind then
    return nil, reply.refuse('invalid_input', 'unsupported patch_kind')
  end
  local patch, refused = check_patch(frame.payload)
  if not patch then return nil, refused end
  local key = keys.attempt(x.tag, x.id, index) .. ':summary'
  local stored = server.call('HMGET', key, 'document', 'version', 'document_bytes')
  local before = stored[1] or '{}'
  -- The stored text is valid JSON.
  if tostring(#before) ~= stored[3] and not structure_of(before) then
    return nil, reply.refuse('corruption', 'stored summary document not decodeable')
  end
  if refused then return nil, refused end
  local document = merge_patch.document(before)
  merge_patch.merge(document, patch)
  local text = with_nulls(merge_patch.text(document))
  if #text > document_bytes_max then
    return nil, reply.refuse('retention_limit_exceeded', 'summary_too_large')
  end
  return {key = key, document = text, version = string.format('%.0f', (tonumber(stored[2] or '0') or 0) + 1)}
end

function summaries.save(x, summary)
  server.call('HSET', summary.key, 'document', summary.document, 'version', summary.version, 'patch_kind', patch_kind,
    'last_updated_ms', x.at, 'document_bytes', #summary.document)
  if summary.version == '1' then server.call('HSET', summary.key, 'first_applied_ms', x.at) end
end

return summaries
