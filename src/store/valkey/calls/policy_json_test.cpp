#include "store/valkey/calls/policy_json.hpp"

#include <gtest/gtest.h>

namespace ff::valkey_store {
namespace {

TEST(PolicyJson, IsNothingForTheUsualPolicy) { EXPECT_EQ(to_policy_json(Policy{}), ""); }

TEST(PolicyJson, ComesBackAsItWent) {
  const Policy policy{
      .retry = RetryPolicy{.max_retries = 7,
                           .backoff = ExponentialBackoff{Millis{10}, Millis{500}, 1.5, true},
                           .retryable_categories = {"network"}},
      .attempt_timeout = Millis{1},
      .execution_deadline = Millis{2},
      .max_reclaim_count = 3,
      .max_replay_count = 4,
      .max_signals = 5,
      .required_capabilities = *CapabilitySet::parse({"gpu", "cuda"}),
      .budgets = {*BudgetId::parse("bbbbbbbb-0000-4000-8000-000000000000"),
                  *BudgetId::parse("aaaaaaaa-0000-4000-8000-000000000000")},
      .quota = *QuotaId::parse("cccccccc-0000-4000-8000-000000000000"),
      .fairness_key = *FairnessKey::parse("acme"),
      .fairness_weight = 6,
      .max_running = 7,
      .dedup_window = Millis{5},
      .retention = Millis{0}};
  EXPECT_EQ(from_policy_json(to_policy_json(policy)), policy);
  const Policy fixed{.retry = RetryPolicy{.backoff = FixedBackoff{Millis{9}}}};
  EXPECT_EQ(from_policy_json(to_policy_json(fixed)), fixed);
}

TEST(PolicyJson, TakesWhatItCannotReadForNotGiven) {
  for (const auto* json :
       {"", "null", "7", "[]", "{", R"({"retry_policy":null})", R"({"max_replay_count":"many"})",
        R"({"timeout_policy":[1]})", R"({"budget_ids":["x",1],"quota_policy_id":2})"})
    EXPECT_EQ(from_policy_json(json), Policy{}) << json;
}

}  // namespace
}  // namespace ff::valkey_store
