-- Names of keys. Everything of one execution carries the tag of its partition.
local keys = {}

-- Tag and execution id in the name of a core hash.
function keys.parse_core(core_key)
  local close = string.find(core_key, '}', 9, true)
  if not close or string.sub(core_key, 1, 9) ~= 'ff:exec:{' or string.sub(core_key, -5) ~= ':core' then
    return nil
  end
  return string.sub(core_key, 9, close), string.sub(core_key, close + 2, -6)
end

-- The hash tag in any key.
function keys.tag_in(key)
  return string.match(key, '{[^}]*}')
end

function keys.of_execution(tag, id, what)
  return 'ff:exec:' .. tag .. ':' .. id .. ':' .. what
end

function keys.attempt(tag, id, index)
  return 'ff:attempt:' .. tag .. ':' .. id .. ':' .. index
end

-- The contract's stream of an attempt.
function keys.stream(tag, id, index)
  return 'ff:stream:' .. tag .. ':' .. id .. ':' .. index
end

-- Tag, execution id and attempt index in the name of such a stream.
function keys.parse_stream(key)
  local tag, id, index = string.match(key, '^ff:stream:({[^}]*}):(.+):(%d+)$')
  return tag, id, tonumber(index)
end

function keys.stream_meta(tag, id, index)
  return keys.stream(tag, id, index) .. ':meta'
end

function keys.index(tag, what)
  return 'ff:idx:' .. tag .. ':' .. what
end

function keys.lane_index(tag, queue, what)
  return 'ff:idx:' .. tag .. ':lane:' .. queue .. ':' .. what
end

function keys.worker_leases(tag, instance)
  return 'ff:idx:' .. tag .. ':worker:' .. instance .. ':leases'
end

function keys.created(tag, namespace)
  return 'ff:idx:' .. tag .. ':ns:' .. namespace .. ':created'
end

function keys.suspension(x)
  return keys.of_execution(x.tag, x.id, 'suspension:current')
end

function keys.waitpoint(tag, waitpoint_id)
  return 'ff:wp:' .. tag .. ':' .. waitpoint_id
end

function keys.signals(x)
  return keys.of_execution(x.tag, x.id, 'signals')
end

-- Those that may count later, though suspensions have passed them over; in the order of arrival.
function keys.passed_over(x)
  return keys.of_execution(x.tag, x.id, 'signals:passed_over')
end

function keys.signal(tag, signal_id)
  return 'ff:signal:' .. tag .. ':' .. signal_id
end

function keys.signal_dedup(tag, waitpoint_id, key)
  return 'ff:sigdedup:' .. tag .. ':' .. waitpoint_id .. ':' .. key
end

function keys.suspend_dedup(x, key)
  return 'ff:dedup:suspend:' .. x.tag .. ':' .. x.id .. ':' .. key
end

function keys.idempotency(tag, namespace, key)
  return 'ff:idem:' .. tag .. ':' .. namespace .. ':' .. key
end

function keys.flow(tag, flow_id, what)
  return 'ff:flow:' .. tag .. ':' .. flow_id .. ':' .. what
end

-- Tag and flow id in the name of a flow's core hash.
function keys.parse_flow(core_key)
  return string.match(core_key, '^ff:flow:({[^}]*}):([^:]+):core$')
end

-- Flows of a namespace by the time when they were made.
function keys.flows(tag, namespace)
  return 'ff:idx:' .. tag .. ':ns:' .. namespace .. ':flows'
end

function keys.effects(tag)
  return 'ff:effects:' .. tag
end

function keys.events(tag)
  return 'ff:events:' .. tag
end

return keys
