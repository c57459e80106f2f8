-- Adds to a budget's usage: all of it, or nothing. KEYS: 1 usage, 2 limits, 3 definition. ARGV:
-- 1 dim_count, then that many dimensions and that many deltas, now_ms, maybe a dedup key (the full name of
-- a key). Replies OK, ALREADY_APPLIED, SOFT_BREACH dimension usage limit, or HARD_BREACH dimension usage
-- limit: then nothing was added.
server.register_function('ff_report_usage_and_check', function(KEYS, ARGV)
  return admitting.report(KEYS, ARGV, 'dim_count', {
    more = 2,
    of_dimension = function(i) return 1 + i end,
    of_amount = function(i, count) return 1 + count + i end,
  })
end)
