#include "store/valkey/calls/resource_calls.hpp"

#include <gtest/gtest.h>

namespace ff::valkey_store {
namespace {

constexpr auto uuid = "aaaaaaaa-0000-4000-8000-000000000000";
constexpr auto execution = "{fp:7}:01234567-89ab-cdef-0123-456789abcdef";

Reply list(const std::vector<std::string>& texts) {
  std::vector<Reply> replies;
  for (const auto& text : texts) replies.push_back(Reply{text});
  return Reply{std::move(replies)};
}

Answer answer_of(std::vector<Reply> values) { return Answer(false, {}, std::move(values)); }
Answer answer_of(const std::vector<std::string>& texts) {
  return answer_of(*list(texts).as_array());
}

TEST(ResourceCalls, AnOpeningNamesABudgetOrAQuota) {
  const auto budget = parse_opening(fmt::format("budget\x1f{}\x1f{}", "acme", uuid));
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->ns.str(), "acme");
  EXPECT_EQ(std::get<BudgetId>(budget->of).str(), uuid);
  const auto opened_quota = parse_opening(fmt::format("quota\x1f{}\x1f{}", "acme", uuid));
  ASSERT_TRUE(opened_quota);
  EXPECT_EQ(std::get<QuotaId>(opened_quota->of).str(), uuid);
}

TEST(ResourceCalls, MalformedOpeningIsIgnored) {
  EXPECT_FALSE(parse_opening(""));
  EXPECT_FALSE(parse_opening(fmt::format("worker\x1f{}\x1f{}", "acme", uuid)));
  EXPECT_FALSE(parse_opening(fmt::format("budget\x1f{}\x1f{}", "acme", "x")));
  EXPECT_FALSE(parse_opening(fmt::format("budget\x1f{}\x1f{}", "", uuid)));
}

TEST(ResourceCalls, ASlotTellsWhoHoldsItSinceWhen) {
  const auto held = parse_holder(uuid, std::string(execution) + " 1800000000000");
  ASSERT_TRUE(held);
  EXPECT_EQ(held->token.str(), uuid);
  EXPECT_EQ(held->execution.str(), execution);
  EXPECT_EQ(held->admitted_at, TimePoint{Millis{1'800'000'000'000}});
  EXPECT_FALSE(parse_holder(uuid, execution));
  EXPECT_FALSE(parse_holder("x", std::string(execution) + " 1"));
  EXPECT_FALSE(parse_holder(uuid, std::string(execution) + " soon"));
}

TEST(ResourceCalls, ABudgetOfOtherProgramsIsReadAsStrict) {
  auto answer = answer_of({list({"created_at", "5", "enforcement_mode", "hard", "on_hard_limit",
                                 "reroute_fallback", "on_soft_limit", "shout", "last_breach_at", ""}),
                           list({"hard:tokens", "10", "soft:tokens", "0", "hard:cost", ""}),
                           list({"tokens", "3", "breached_at", "7", "_init", "x"}), Reply{""}});
  const auto info = read_answer(GetBudget{*BudgetId::parse(uuid)}, answer);
  EXPECT_FALSE(answer.malformed());
  EXPECT_EQ(info.ns, default_namespace());
  EXPECT_EQ(info.spec, (BudgetSpec{.enforcement = Enforcement::strict,
                                   .on_hard_limit = OnHardLimit::reject,
                                   .on_soft_limit = OnSoftLimit::warn,
                                   .hard_limits = {{"tokens", 10}}}));
  EXPECT_EQ(info.usage, (Amounts{{"tokens", 3}}));
  EXPECT_EQ(info.last_breach_at, std::nullopt);
  EXPECT_EQ(info.exhausted, std::nullopt);
}

TEST(ResourceCalls, ARefusalByTheRateSaysWhenToComeAgain) {
  const core::Admit admit{.quota = *QuotaId::parse(uuid),
                          .token = *QuotaTokenId::parse("00000000-0000-4000-0000-000000000007"),
                          .execution = *ExecutionId::parse(execution)};
  auto answer = answer_of({"rate", "1000", "5", "1500", "3"});
  const auto refused = read_answer(admit, answer);
  EXPECT_EQ(refused.token, std::nullopt);
  EXPECT_EQ(refused.detail, fmt::format("quota {}: rate limit 5/5 per 1.5s window", uuid));
  EXPECT_EQ(refused.retry_at, TimePoint{Millis{1003}});  // 7 mod (3 + 1) later
}

TEST(ResourceCalls, AWorkerIsReadWithAllItsLanes) {
  auto answer = answer_of({"w1",
                           "mail\x1e"
                           "a,b c",
                           "gpu", "1", "10", "20", "30", "10"});
  const auto workers = read_answer(core::LiveWorkers{default_namespace()}, answer);
  EXPECT_FALSE(answer.malformed());
  ASSERT_EQ(workers.size(), 1u);
  EXPECT_EQ(workers[0].lanes, (std::vector{*LaneId::parse("mail"), *LaneId::parse("a,b c")}));
  EXPECT_EQ(workers[0].capabilities.csv(), "gpu");
  EXPECT_TRUE(workers[0].draining);
  EXPECT_EQ(workers[0].expires_at, TimePoint{Millis{30}});
}

}  // namespace
}  // namespace ff::valkey_store
