-- The same as ff_report_usage_and_check, and remembers who spent it. KEYS: 1 usage, 2 limits,
-- 3 definition, 4 by_exec:…, 5 by_exec:index. ARGV: 1 pair_count, then dimension and delta of each,
-- now_ms, dedup key, execution_id (both may be empty).
server.register_function('ff_record_spend', function(KEYS, ARGV)
  return admitting.report(KEYS, ARGV, 'pair_count', {
    more = 3,
    of_dimension = function(i) return 2 * i end,
    of_amount = function(i) return 2 * i + 1 end,
  })
end)
