-- Keeps the result of a step under the lease. The first result of a name stays.
--   keys   core
--   args   now, origin, lease_id, lease_epoch, attempt_id, name, result, content_type, steps_max, bytes_max (of
--          all results together)
--   reply  OK '' or DUPLICATE '' if a result was kept before
-- A step has no event.
commands.register('ff_put_step', function(KEYS, ARGV)
  local core_key = KEYS[1]
  local now, _, lease_id, lease_epoch, attempt_id, name, result, content_type, steps_max, bytes_max =
    unpack(ARGV)

  local x = execution.load(core_key, arguments.now(now))
  if not x then return reply.refuse('execution_not_found') end
  local refused = leases.check(x, lease_id, lease_epoch, attempt_id)
  if refused then return refused end
  local steps = keys.of_execution(x.tag, x.id, 'steps')
  local count = execution.count(x, 'step_count')
  if count > 0 and server.call('HEXISTS', steps, name) == 1 then return {1, 'DUPLICATE', ''} end
  local bytes = execution.count(x, 'step_bytes') + #result
  if count >= tonumber(steps_max) or bytes > tonumber(bytes_max) then
    return reply.refuse('step_limit_exceeded')
  end

  server.call('HSET', steps, name, x.at .. '\31' .. #result .. '\31' .. content_type)
  server.call('HSET', keys.of_execution(x.tag, x.id, 'step_results'), name, result)
  execution.put(x, {step_count = tostring(count + 1), step_bytes = string.format('%.0f', bytes)})
  execution.save(x)
  return reply.ok('')
end)
