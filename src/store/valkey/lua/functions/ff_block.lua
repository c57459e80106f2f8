-- Says what an execution that waits for a worker waits for beside that. KEYS: core. ARGV: now, origin,
-- 3 reason, 4 detail. Replies OK event changed (1 or 0). What has a worker or a grant, is delayed, paused
-- or lost is left as it is; another detail of the same reason is no news.
commands.register('ff_block', function(KEYS, ARGV)
  local x = execution.load(KEYS[1], arguments.now(ARGV[1]))
  if not x then return reply.refuse('execution_not_found') end
  local f, reason, detail = x.f, ARGV[3], arguments.given(ARGV[4])
  local blocked = blocking.is_blocked(x)
  local waits = f.lifecycle_phase == 'runnable' and f.eligibility_state == 'eligible_now'
    and not f.grant_expires_at
  if not waits and not blocked or blocking.is_pause(f.blocking_reason)
    or blocked and f.blocking_reason == reason and f.blocking_detail == detail then
    return reply.ok('', '0')
  end
  local news = f.blocking_reason ~= reason
  blocking.block(x, reason, detail)
  execution.save(x)
  return reply.ok(news and events.tell(x, 'blocked', ARGV[2]) or '', '1')
end)
