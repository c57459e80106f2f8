-- As ff_report_usage_and_check, and records the spending execution.
--   keys   usage, limits, definition, by_exec:…, by_exec:index
--   args   pair_count, then dimension and delta of each, now_ms, dedup_key, execution_id (both may be
--          empty)
--   reply  as ff_report_usage_and_check
server.register_function('ff_record_spend', function(KEYS, ARGV)
  return admitting.report(KEYS, ARGV, 'pair_count', {
    more = 3,
    of_dimension = function(i) return 2 * i end,
    of_amount = function(i) return 2 * i + 1 end,
  })
end)
