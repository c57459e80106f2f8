-- The rolling summary of an attempt.
--   keys   summary
--   args   none
--   reply  OK document version patch_kind last_updated_ms first_applied_ms; without a summary empty texts and zeros
server.register_function{
  function_name = 'ff_read_summary',
  callback = function(KEYS)
    local summary_key = KEYS[1]

    local stored = server.call('HMGET', summary_key, 'document', 'version', 'patch_kind', 'last_updated_ms',
      'first_applied_ms')
    return reply.ok(stored[1] or '', stored[2] or '0', stored[3] or '', stored[4] or '0', stored[5] or '0')
  end,
  flags = {'no-writes'},
}
