-- Adds to a budget's usage: the whole report, or nothing.
--   keys   usage, limits, definition
--   args   dim_count, then that many dimensions and that many deltas, now_ms, optionally dedup_key (the
--          full name of a key)
--   reply  OK, ALREADY_APPLIED, SOFT_BREACH dimension usage limit, or HARD_BREACH dimension usage limit:
--          then nothing was added
server.register_function('ff_report_usage_and_check', function(KEYS, ARGV)
  return admitting.report(KEYS, ARGV, 'dim_count', {
    more = 2,
    of_dimension = function(i) return 1 + i end,
    of_amount = function(i, count) return 1 + count + i end,
  })
end)
