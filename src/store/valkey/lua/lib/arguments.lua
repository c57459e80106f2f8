-- Arguments are bytes from outside. Each is checked before the first write.
local arguments = {}

-- Beyond this a double no longer holds every whole number.
local largest = 9007199254740991
arguments.duration_max = 315569520000  -- ten years
local time_max = 6311390400000  -- the year 2170
local priority_max = 9000

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

-- Clamped, as text, or nil and the refusal. Fractions are kept.
function arguments.priority(name, text)
  local number = tonumber(text)
  if not number or number ~= number then return arguments.number(name, text) end
  if number <= 0 then return '0' end
  return string.format('%.14g', math.min(number, priority_max))
end

-- Reads one argument after the other and keeps the first refusal in `refused`.
local reader = {}
reader.__index = reader

function arguments.reader()
  return setmetatable({}, reader)
end

function reader:keep(value, refused)
  self.refused = self.refused or refused
  return value
end

function reader:number(name, text, low, high)
  return self:keep(arguments.number(name, text, low, high))
end

function reader:optional_number(name, text, low, high)
  return self:keep(arguments.optional_number(name, text, low, high))
end

-- The same, and a fraction is refused rather than cut off.
function reader:whole(name, text, low, high)
  local value = self:number(name, text, low, high)
  if value and tonumber(text) ~= value then
    return self:keep(nil,
      reply.refuse('invalid_input', name .. ' must be a whole number, got: ' .. tostring(text)))
  end
  return value
end

-- Milliseconds, at least one.
function reader:duration(name, text)
  return self:number(name, text, 1, arguments.duration_max)
end

-- Left out, empty and 0 all mean: none.
function reader:optional_duration(name, text)
  local value = self:optional_number(name, text, 0, arguments.duration_max)
  return value ~= 0 and value or nil
end

-- Milliseconds since 1970.
function reader:time(name, text)
  return self:number(name, text, 0, time_max)
end

function reader:optional_time(name, text)
  return self:optional_number(name, text, 0, time_max)
end

-- A name: of something, or in a key.
function reader:text(name, text)
  if not text or text == '' then
    return self:keep(nil, reply.refuse('invalid_input', name .. ' must not be empty'))
  end
  if string.find(text, '[%z\1-\31\127]') then
    return self:keep(nil,
      reply.refuse('invalid_input', name .. ' must not have control characters'))
  end
  return text
end

local last_time, last_text

-- Whole milliseconds as they are stored. One call needs the same time again and again.
function arguments.time_text(time)
  if time ~= last_time then last_time, last_text = time, string.format('%.0f', time) end
  return last_text
end

-- Tells the time: what the caller says (only tests do), else the server's own clock.
function arguments.now(text)
  if text and text ~= '' then return tonumber(text) end
  local time = server.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

return arguments
