-- Labels a waiting execution with what it lacks besides a worker.
--   keys   core
--   args   now, origin, reason, detail
--   reply  OK event changed (1 or 0)
-- An execution that is leased, granted, delayed, paused or lost is left as it is. Another detail of the
-- same reason is stored, but is no event.
commands.register('ff_block', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, origin, reason, detail = ARGV[1], ARGV[2], ARGV[3], arguments.given(ARGV[4])

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local f, blocked = x.f, blocking.is_blocked(x)
  local waits = f.lifecycle_phase == 'runnable' and f.eligibility_state == 'eligible_now'
    and not f.grant_expires_at
  if not waits and not blocked or blocking.is_pause(f.blocking_reason)
    or blocked and f.blocking_reason == reason and f.blocking_detail == detail then
    return reply.ok('', '0')
  end

  local news = f.blocking_reason ~= reason
  blocking.block(x, reason, detail)
  execution.save(x)
  return reply.ok(news and events.tell(x, 'blocked', origin) or '', '1')
end)
