#include <gtest/gtest.h>

#include "http/wire/wire.hpp"

namespace ff::http {
namespace {

const auto budget_id = must(BudgetId::parse("01920000-0000-7000-8000-000000000001"));
const auto quota_id = must(QuotaId::parse("01920000-0000-7000-8000-000000000002"));
const TimePoint then{Millis{1'000}};

template <class T>
T there_and_back(const T& value) {
  return must(from_reply<T>(to_fields(value)));
}

template <class Op>
std::string refusal_message(std::string_view text) {
  const auto parsed =
      from_fields<Op>(RequestFields{.url = {}, .body = json::parse(text).as_object()});
  return parsed ? "accepted" : parsed.error().message;
}

TEST(WireResources, BudgetIsTheSameAfterTheWay) {
  const BudgetInfo full{.id = budget_id,
                        .ns = must(Namespace::parse("tenant")),
                        .spec = {.scope_type = "lane",
                                 .scope_id = "mail",
                                 .enforcement = Enforcement::advisory,
                                 .on_hard_limit = OnHardLimit::suspend,
                                 .on_soft_limit = OnSoftLimit::ignore,
                                 .hard_limits = {{"tokens", limits::amount_max}},
                                 .soft_limits = {{"tokens", 7}},
                                 .reset_interval = Millis{60'000}},
                        .usage = {{"tokens", 9}},
                        .exhausted = Breach{"tokens", 9, 8},
                        .breach_count = 1,
                        .soft_breach_count = 2,
                        .last_breach_at = then,
                        .last_breach_dimension = "tokens",
                        .reset_count = 3,
                        .last_reset_at = then,
                        .next_reset_at = then,
                        .created_at = then};
  EXPECT_EQ(there_and_back(full), full);
  const BudgetInfo bare{
      .id = budget_id, .ns = {default_namespace()}, .spec = {}, .created_at = then};
  EXPECT_EQ(there_and_back(bare), bare);
}

TEST(WireResources, QuotaIsTheSameAfterTheWay) {
  const QuotaInfo quota{
      .id = quota_id,
      .ns = default_namespace(),
      .spec = {.window = Millis{5}, .max_per_window = 3, .max_concurrent = 2, .jitter = Millis{1}},
      .in_window = 3,
      .running = 1,
      .next_start_at = then,
      .created_at = then};
  EXPECT_EQ(there_and_back(quota), quota);
}

TEST(WireResources, WorkerIsTheSameAfterTheWay) {
  const WorkerStatus worker{.info = {.worker = must(WorkerId::parse("w")),
                                     .ns = default_namespace(),
                                     .lanes = {default_lane()},
                                     .capabilities = must(CapabilitySet::parse({"gpu"})),
                                     .draining = true,
                                     .registered_at = then,
                                     .last_seen_at = then,
                                     .expires_at = then},
                            .running = {ExecutionId(7, budget_id.uuid())}};
  EXPECT_EQ(there_and_back(worker), worker);
}

TEST(WireResources, UsageReplyAndWhyAreTheSameAfterTheWay) {
  const UsageReply reply{.outcome = UsageOutcome::hard_breach,
                         .breach = Breach{"tokens", 11, 10},
                         .action = OnHardLimit::fail};
  EXPECT_EQ(there_and_back(reply), reply);
  const Why why{.id = ExecutionId(7, budget_id.uuid()),
                .state = ExecutionState::rate_limited,
                .summary = "it waits",
                .obstacles = {{BlockingReason::waiting_for_budget, "detail", "remedy"}}};
  EXPECT_EQ(there_and_back(why), why);
}

TEST(WireResources, PolicyNamesItsBudgetsAndItsQuota) {
  const Policy policy{.budgets = {budget_id}, .quota = quota_id};
  EXPECT_EQ(there_and_back(policy), policy);
  const auto fields = to_fields(policy);
  EXPECT_EQ(fields.at("budget_ids").at(0).as_string(), budget_id.str());
  EXPECT_EQ(fields.at("quota_policy_id").as_string(), quota_id.str());
}

TEST(WireResources, SpecStandsFlatInItsBudget) {
  const auto fields = to_fields(CreateBudget{.spec = {.hard_limits = {{"tokens", 5}}}});
  EXPECT_EQ(fields.at("enforcement_mode"), "strict");
  EXPECT_EQ(fields.at("hard_limits").at("tokens").as_uint64(), 5u);
  EXPECT_FALSE(fields.contains("reset_interval_ms"));
}

TEST(WireResources, WordsThatAreNotKnownAreRefused) {
  EXPECT_EQ(refusal_message<CreateBudget>(R"({"enforcement_mode":"lax"})"),
            "enforcement_mode must be one of strict, advisory, got 'lax'");
  EXPECT_EQ(refusal_message<CreateBudget>(R"({"on_hard_limit":"explode"})"),
            "on_hard_limit must be one of fail, suspend, reject, warn, deny_child, close_scope, "
            "got 'explode'");
}

TEST(WireResources, AmountsAreWholeNumbers) {
  const auto report = [](const char* amount) {
    return refusal_message<ReportUsage>(
        fmt::format(R"({{"id":"{}","dimensions":{{"tokens":{}}}}})", budget_id.str(), amount));
  };
  EXPECT_EQ(report("5"), "accepted");
  EXPECT_EQ(report("1.5"),
            "dimensions must be an object of whole numbers, but 'tokens' must be a whole number, "
            "got a fraction");
  EXPECT_EQ(report("-1"),
            "dimensions must be an object of whole numbers, but 'tokens' must be at least 0");
}

}  // namespace
}  // namespace ff::http
