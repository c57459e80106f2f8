-- Arguments are bytes from outside. Each is checked before the first write.
local arguments = {}

-- Beyond this a double no longer holds every whole number.
local largest = 9007199254740991

local function whole(text, low, high)
  local number = tonumber(text)
  if not number or number ~= number or number < low or number > high then return nil end
  return math.floor(number)
end

-- A whole number from `low` to `high`, or nil and the refusal.
function arguments.number(name, text, low, high)
  local number = tonumber(text)
  if not number or number ~= number then
    return nil, reply.refuse('invalid_input', name .. ' must be a number, got: ' .. tostring(text))
  end
  local value = whole(text, low or -largest, high or largest)
  if not value then
    return nil, reply.refuse('invalid_input',
      string.format('%s must be from %.0f to %.0f, got: %s', name, low or -largest,
        high or largest, tostring(text)))
  end
  return value
end

-- The same for an argument that may be left out: absent is nil without a refusal.
function arguments.optional_number(name, text, low, high)
  if text == nil or text == '' then return nil end
  return arguments.number(name, text, low, high)
end

function arguments.given(text)
  if text == '' then return nil end
  return text
end

-- Tells the time: what the caller says (only tests do), else the server's own clock.
function arguments.now(text)
  if text and text ~= '' then return tonumber(text) end
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
