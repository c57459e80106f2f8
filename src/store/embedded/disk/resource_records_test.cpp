#include "store/embedded/disk/resource_records.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "records.pb.h"
#include "tests/support/values.hpp"

namespace ff::embedded {
namespace {

using namespace std::chrono_literals;

using test::t0;

Uuid uuid_of(std::uint8_t number) {
  Uuid::Bytes bytes{};
  bytes[15] = number;
  return Uuid{bytes};
}
const BudgetId budget_id{uuid_of(1)};
const QuotaId quota_id{uuid_of(2)};

core::Budget full_budget() {
  return {.id = budget_id,
          .ns = *Namespace::parse("tenant"),
          .spec = {.scope_type = "lane",
                   .scope_id = "night",
                   .enforcement = Enforcement::advisory,
                   .on_hard_limit = OnHardLimit::suspend,
                   .on_soft_limit = OnSoftLimit::ignore,
                   .hard_limits = {{"cents", 0}, {"tokens", limits::amount_max}},
                   .soft_limits = {{"tokens", 5}},
                   .reset_interval = 60s},
          .usage = {{"tokens", 7}, {"unlimited", 1}},
          .breach_count = 2,
          .soft_breach_count = 3,
          .last_breach_at = t0 + 1s,
          .last_breach_dimension = "tokens",
          .reset_count = 4,
          .last_reset_at = t0 + 2s,
          .next_reset_at = t0 + 3s,
          .created_at = t0};
}

TEST(ResourceRecords, BringBackBudgets) {
  const auto full = full_budget();
  EXPECT_EQ(decode_budget(budget_id, encode(full)), full);
  const auto bare = core::make_budget({.id = budget_id, .spec = {}}, t0);
  EXPECT_EQ(decode_budget(budget_id, encode(bare)), bare);
}

TEST(ResourceRecords, BringBackQuotas) {
  for (const auto& spec :
       {QuotaSpec{},
        QuotaSpec{.window = 5s, .max_per_window = 7, .max_concurrent = 8, .jitter = 9ms},
        QuotaSpec{.max_concurrent = 0}}) {
    const auto quota = core::make_quota({.id = quota_id, .spec = spec}, t0);
    const auto decoded = decode_quota(quota_id, encode(quota));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(core::info_of(*decoded, t0), core::info_of(quota, t0));
  }
}

TEST(ResourceRecords, BringBackSpendingAndReports) {
  const Amounts amounts{{"cents", 1}, {"tokens", 2}};
  const auto spending = must(decode_spending(encode(Spending{amounts, 3})));
  EXPECT_EQ(spending.amounts, amounts);
  EXPECT_EQ(spending.reset_count, 3u);
  for (const auto& execution :
       {std::optional<ExecutionId>{}, std::optional(ExecutionId{70, uuid_of(3)})}) {
    const auto report = must(decode_report(
        encode(KnownReport{.amounts = amounts, .execution = execution, .until = t0})));
    EXPECT_EQ(report.amounts, amounts);
    EXPECT_EQ(report.execution, execution);
    EXPECT_EQ(report.until, t0);
  }
}

TEST(ResourceRecords, BringBackTheKeyRing) {
  const auto kid = [](const char* text) { return *KeyId::parse(text); };
  const auto secret = [](const char* hex) { return *WaitpointSecret::parse(hex); };
  const core::KeyRing ring{.current = kid("k2"),
                           .keys = {{kid("k1"), {.secret = secret("00ff"), .expires_at = t0}},
                                    {kid("k2"), {.secret = secret("bb")}}}};
  EXPECT_EQ(decode_key_ring(encode(ring)), ring);
  EXPECT_FALSE(decode_key_ring(""));
  EXPECT_FALSE(decode_key_ring("rubbish"));
  EXPECT_FALSE(decode_key_ring(encode(core::KeyRing{.current = kid("k1")}))) << "no secret signs";
}

TEST(ResourceRecords, MalformedRecordsAreRefused) {
  EXPECT_FALSE(decode_budget(budget_id, ""));
  EXPECT_FALSE(decode_budget(budget_id, "rubbish"));
  EXPECT_FALSE(decode_quota(quota_id, ""));
  EXPECT_FALSE(decode_quota(quota_id, "rubbish"));
  EXPECT_FALSE(decode_spending("rubbish"));
  EXPECT_FALSE(decode_report("rubbish"));
}

TEST(ResourceRecords, OfBudgetsThatCannotBeAreRefused) {
  using Stored = proto::Budget;
  const std::vector<std::pair<const char*, std::function<void(Stored&)>>> damages{
      {"namespace", [](Stored& r) { r.set_namespace_("no/slashes"); }},
      {"enforcement", [](Stored& r) { r.set_enforcement(9); }},
      {"on_hard_limit", [](Stored& r) { r.set_on_hard_limit(9); }},
      {"on_soft_limit", [](Stored& r) { r.set_on_soft_limit(9); }},
      {"a reset without a period", [](Stored& r) { r.clear_reset_interval_ms(); }},
      {"a period without a reset", [](Stored& r) { r.clear_next_reset_at_ms(); }},
      {"an endless number of periods", [](Stored& r) { r.set_reset_interval_ms(0); }},
  };
  proto::Budget good;
  ASSERT_TRUE(good.ParseFromString(encode(full_budget())));
  for (const auto& [what, damage] : damages) {
    auto bad = good;
    damage(bad);
    const auto decoded = decode_budget(budget_id, bad.SerializeAsString());
    ASSERT_FALSE(decoded) << what;
    EXPECT_EQ(decoded.error().code, Errc::store_damaged) << what;
  }
}

}  // namespace
}  // namespace ff::embedded
