-- HMAC-SHA-1 of any bytes, on the server's SHA-1, which answers in hex digits.
local hmac = {}

local block_size = 64

-- The bytes that hex digits of either case stand for; nil for any other text.
function hmac.from_hex(text)
  if #text % 2 == 1 or string.find(text, '%X') then return nil end
  return (string.gsub(text, '%x%x', function(pair) return string.char(tonumber(pair, 16)) end))
end

local function xored(bytes, with)
  return (string.gsub(bytes, '.', function(byte)
    return string.char(bit.bxor(string.byte(byte), with))
  end))
end

-- 40 hex digits.
function hmac.sha1(key, message)
  if #key > block_size then key = hmac.from_hex(server.sha1hex(key)) end
  key = key .. string.rep('\0', block_size - #key)
  local inner = hmac.from_hex(server.sha1hex(xored(key, 0x36) .. message))
  return server.sha1hex(xored(key, 0x5c) .. inner)
end

-- Takes as long for equal texts as for others of the same length.
function hmac.equal(a, b)
  if #a ~= #b then return false end
  local difference = 0
  for i = 1, #a do
    difference = bit.bor(difference, bit.bxor(string.byte(a, i), string.byte(b, i)))
  end
  return difference == 0
end

return hmac
