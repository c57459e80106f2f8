// Effects happen, whatever breaks between their cause and their end, and happen once in meaning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/flows/flow.hpp"
#include "engine/breaking_store.hpp"
#include "tests/support/blocking_store.hpp"

namespace ff {
namespace {

using ::testing::IsEmpty;

class OutboxBreaksOff : public OnABreakingStore, public ::testing::WithParamInterface<Break> {
 protected:
  template <class Op>
  auto ask(Op operation) {
    return must(test::run(*store_, std::move(operation)));
  }
  std::vector<store::PendingEffect> pending() {
    return ask(store::FindEffects{.max = 100}).effects;
  }
  // Its calls may break.
  void try_effects() {
    static_cast<void>(test::run_blocking(engine_->executor(), engine_->outbox().run_once()));
  }
  // The outbox alone: no scanner runs.
  void finish_effects() {
    must(test::run_blocking(engine_->executor(), engine_->outbox().run_once()));
    EXPECT_THAT(pending(), IsEmpty());
  }

  // `cause` is made again and again in a new store, each time broken one call later; then `expect` holds.
  template <class Prepare, class Cause, class Expect>
  void break_everywhere(Prepare prepare, Cause cause, Expect expect) {
    for (int number = 0; number < 100; ++number) {
      SCOPED_TRACE(number);
      begin();
      prepare();
      store_->break_call(number, GetParam());
      cause();
      const bool broke = store_->broke();
      store_->mend();
      if (GetParam() == Break::crash) open();
      finish_effects();
      expect();
      if (!broke) {
        EXPECT_GT(number, 1) << "it was broken at some point";
        return;
      }
    }
    FAIL() << "it never ended";
  }

  std::size_t running() {
    std::size_t count = 0;
    for (const auto& each : must(run(ListExecutions{})).executions)
      count += each.state == ExecutionState::active ? 1 : 0;
    return count;
  }
  std::vector<ClaimedExecution> claimed_;
};

TEST_P(OutboxBreaksOff, AndTheSlotOfAnEndedExecutionIsFree) {
  break_everywhere([this] { claimed_ = must(run(claim(2))).executions; },
                   [this] {
                     for (const auto& each : claimed_)
                       static_cast<void>(run(Complete{.id = each.id, .fence = each.fence}));
                   },
                   [this] { EXPECT_EQ(quota().running, running()); });
}

TEST_P(OutboxBreaksOff, AndTheSpendingOfARemovedExecutionIsForgotten) {
  const auto remove = [this] { return test::run(*store_, core::Remove{claimed_.at(0).id}); };
  break_everywhere(
      [this] {
        claimed_ = must(run(claim(1))).executions;
        const auto& each = claimed_.at(0);
        must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 3}}, .execution = each.id}));
        must(run(Complete{.id = each.id, .fence = each.fence}));
        clock_->advance(limits::retention_default);
      },
      [&] { static_cast<void>(remove()); },
      [&] {
        static_cast<void>(remove());  // the first one may not have got there
        finish_effects();
        EXPECT_THAT(ask(core::LedgerOf{.budget = budget_}), IsEmpty());
        EXPECT_EQ(must(run(GetBudget{budget_})).usage, (Amounts{{"tokens", 3}})) << "it was spent";
      });
}

// The effect is carried out, and not settled when the id is used again.
TEST_P(OutboxBreaksOff, AndTheSpendingOfALaterExecutionWithTheSameIdIsKept) {
  begin();
  const auto id = must(run(claim(1))).executions.at(0);
  must(run(Complete{.id = id.id, .fence = id.fence}));
  clock_->advance(limits::retention_default);
  ask(core::Remove{id.id});
  must(run(Submit{.id = id.id, .kind = *Kind::parse("k"), .policy = {.budgets = {budget_}}}));
  must(run(ReportUsage{.id = budget_, .amounts = {{"tokens", 3}}, .execution = id.id}));
  if (GetParam() == Break::crash) open();
  finish_effects();
  EXPECT_EQ(must(run(ReleaseUsage{.id = budget_, .execution = id.id})).released,
            (Amounts{{"tokens", 3}}));
}

// Between the release and its settling.
TEST_P(OutboxBreaksOff, AndARepeatedReleaseFreesNothingElse) {
  begin();
  const auto first = must(run(claim(1))).executions.at(0);
  must(run(Complete{.id = first.id, .fence = first.fence}));
  const auto second = must(run(claim(2))).executions;
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(pending().size(), 1u) << "it is carried out, and not settled yet";
  if (GetParam() == Break::crash) open();
  finish_effects();
  EXPECT_EQ(quota().running, 2u);
}

// With x in it; the three executions of begin() are not looked at.
SubmitFlow outer_flow() {
  const auto kind = *Kind::parse("inner");
  FlowNode node{.name = *NodeName::parse("node"), .kind = kind};
  node.flow = Subflow{.nodes = {}, .result = *NodeName::parse("x")};
  node.flow->nodes.push_back({.name = *NodeName::parse("x"), .kind = kind});
  SubmitFlow submit{.id = FlowId{core::flow_id(default_namespace(), *IdempotencyKey::parse("f"))},
                    .nodes = {}};
  submit.nodes.push_back(std::move(node));
  return submit;
}

Claim claim_of_x(Claim claim) {
  claim.kinds = {*Kind::parse("inner")};
  return claim;
}

TEST_P(OutboxBreaksOff, AndAFlowThatIsANodeStarts) {
  break_everywhere([] {},
                   [this] {
                     static_cast<void>(run(outer_flow()));
                     try_effects();
                   },
                   [this] {
                     must(run(outer_flow()));  // the first one may not have got there
                     finish_effects();
                     EXPECT_EQ(must(run(claim_of_x(claim(1)))).executions.size(), 1u);
                   });
}

TEST_P(OutboxBreaksOff, AndAFlowThatIsANodeEndsItsNode) {
  const auto complete = [this] {
    const auto& x = claimed_.at(0);
    return run(Complete{.id = x.id, .fence = x.fence, .result = "out"});
  };
  break_everywhere(
      [this] {
        must(run(outer_flow()));
        finish_effects();
        claimed_ = must(run(claim_of_x(claim(1)))).executions;
      },
      [&] {
        static_cast<void>(complete());
        try_effects();
      },
      [&] {
        must(complete());  // the first one may not have got there
        finish_effects();
        const auto id = *outer_flow().id;
        EXPECT_EQ(must(run(GetFlow{.id = id})).state, FlowState::completed);
        const auto node = must(run(ListFlowNodes{.id = id})).nodes.at(0);
        EXPECT_EQ(must(run(GetResult{.id = node.id})).bytes, "out");
      });
}

// Its first end was not told to its node before it ran again.
TEST_P(OutboxBreaksOff, AndAFlowThatIsANodeEndsItsNodeAfterARedrive) {
  begin();
  const auto outer = must(run(outer_flow())).flow.id;
  finish_effects();
  const auto first = must(run(claim_of_x(claim(1)))).executions.at(0);
  store_->break_all<core::EndNode>();
  must(run(Fail{.id = first.id, .fence = first.fence, .reason = "bad", .category = "permanent"}));
  try_effects();
  must(run(RedriveFlow{.id = *first.flow}));
  if (GetParam() == Break::crash) open();
  store_->mend();
  finish_effects();
  EXPECT_EQ(must(run(GetFlow{.id = outer})).state, FlowState::running);

  const auto second = must(run(claim_of_x(claim(1)))).executions.at(0);
  must(run(Complete{.id = second.id, .fence = second.fence, .result = "out"}));
  finish_effects();
  EXPECT_EQ(must(run(GetFlow{.id = outer})).state, FlowState::completed);
}

std::string name_of_break(const ::testing::TestParamInfo<Break>& each) {
  constexpr std::array names{"Before", "After", "Crash"};
  return names[static_cast<std::size_t>(each.param)];
}
INSTANTIATE_TEST_SUITE_P(, OutboxBreaksOff,
                         ::testing::Values(Break::before, Break::after, Break::crash),
                         name_of_break);

}  // namespace
}  // namespace ff
