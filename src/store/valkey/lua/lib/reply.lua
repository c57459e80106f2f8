-- Replies: [1, word, values…] or [0, code, details…].
local reply = {}

function reply.ok(...)
  return {1, 'OK', ...}
end

function reply.already(...)
  return {1, 'ALREADY_SATISFIED', ...}
end

function reply.refuse(code, ...)
  return {0, code, ...}
end

return reply
