#include "core/effects/effect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/test_support.hpp"

namespace ff::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const BudgetId a_budget{uuid_of(1)};
const QuotaId a_quota{uuid_of(2)};
const QuotaTokenId a_token{uuid_of(3)};

Execution with_token(Execution execution) {
  execution.policy.quota = a_quota;
  execution.policy.budgets = {a_budget};
  std::get<Active>(execution.state).token = a_token;
  return execution;
}

TEST(Effects, AreTheSameAfterTheWayThroughText) {
  const std::vector<Effect> all{
      ReleaseToken{.quota = a_quota, .token = a_token},
      ForgetSpending{.budget = a_budget, .execution = test_id()}, AdvanceFlow{FlowId{uuid_of(4)}},
      ResolveEdges{.id = test_id(), .turn = 3}, CancelRest{.id = test_id(), .run = 2},
      ExpandMap{test_id(), 1, *NodeName::parse("list")}, CollectMap{test_id(), 1, 3, 2},
      RunSubflow{test_id(), 1, 3}, EndSubflow{test_id(), 1, FlowId{uuid_of(4)}, 2}};
  for (const auto& effect : all) EXPECT_EQ(effect_from(to_text(effect)), effect);
}

TEST(Effects, OfANewerVersionAreNone) {
  EXPECT_FALSE(effect_from(""));
  EXPECT_FALSE(effect_from("resolve_edges x y"));
  EXPECT_FALSE(effect_from("resolve_edges " + test_id().str()));
  EXPECT_FALSE(effect_from("cancel_rest " + test_id().str() + " x"));
  EXPECT_FALSE(effect_from("release_token " + a_quota.str()));
  EXPECT_FALSE(effect_from("release_token " + a_quota.str() + " " + a_token.str() + " more"));
  EXPECT_FALSE(effect_from("forget_spending x y"));
  EXPECT_FALSE(effect_from("run_subflow " + test_id().str() + " 1"));
  EXPECT_FALSE(effect_from("end_subflow " + test_id().str() + " 1 x 2"));
}

TEST(Effects, ReleaseTheTokenThatAnExecutionLoses) {
  const auto held = with_token(active());
  const Effect release = ReleaseToken{.quota = a_quota, .token = a_token};
  const auto ended = after(apply(held, complete(fence(1)), t0 + 1s));
  EXPECT_THAT(effects_of(held, &ended), ElementsAre(release));
  const auto lost = after(apply(held, revoke(), t0 + 1s));
  EXPECT_THAT(effects_of(held, &lost), ElementsAre(release));
}

TEST(Effects, OfAnExecutionThatKeepsItsTokenAreNone) {
  const auto held = with_token(active());
  EXPECT_THAT(effects_of(held, &held), IsEmpty());
  const auto plain = active();
  const auto ended = after(apply(plain, complete(fence(1)), t0 + 1s));
  EXPECT_THAT(effects_of(plain, &ended), IsEmpty());
}

TEST(Effects, OfATokenWithoutAQuotaAreNone) {
  auto held = with_token(active());
  held.policy.quota.reset();
  const auto ended = after(apply(held, complete(fence(1)), t0 + 1s));
  EXPECT_THAT(effects_of(held, &ended), IsEmpty());
}

TEST(Effects, ForgetTheSpendingOfARemovedExecution) {
  auto ended = completed();
  ended.policy.budgets = {a_budget};
  EXPECT_THAT(effects_of(ended, nullptr),
              ElementsAre(Effect{ForgetSpending{.budget = a_budget, .execution = ended.id}}));
}

}  // namespace
}  // namespace ff::core
