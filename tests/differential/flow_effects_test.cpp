// Effects of flows in each store: one that is settled never takes a later one with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "core/execution/partitions.hpp"
#include "core/flows/flow.hpp"
#include "store/embedded/embedded.hpp"
#include "store/embedded/memory_env.hpp"
#include "store/valkey/open.hpp"
#include "tests/support/blocking_store.hpp"
#include "tests/support/temp_directory.hpp"
#include "tests/support/valkey_server.hpp"

namespace ff::differential {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class FlowEffects : public ::testing::TestWithParam<const char*> {
 protected:
  FlowEffects() {
    if (GetParam() == std::string_view("embedded")) {
      store_ =
          must(embedded::open({.directory = temp_.path(), .clock = clock_, .env = env_.get()}));
      return;
    }
    server_ = std::make_unique<test::ValkeyServer>();
    store_ = must(valkey_store::open(
        {.client = server_->client_options(), .sweep = false, .simulated_clock = clock_}));
  }

  static NodeName named(const std::string& text) { return *NodeName::parse(text); }
  static FlowNode node(const std::string& name, std::vector<Dependency> after = {}) {
    return {.name = named(name), .kind = *Kind::parse("k"), .after = std::move(after)};
  }
  PartitionIndex partition() { return core::partition_of(flow_.uuid(), store_->partition_count()); }
  ExecutionId id_of(const std::string& name) {
    return core::node_id(flow_, partition(), named(name));
  }
  template <class Op>
  auto run(Op operation) {
    return must(test::run(*store_, std::move(operation)));
  }
  template <class Op>
  Errc error_of(Op operation) {
    const auto reply = test::run(*store_, std::move(operation));
    return reply ? Errc{} : reply.error().code;
  }
  void advance(Millis by) { clock_->advance(by); }
  void create(std::vector<FlowNode> nodes) {
    core::CreateFlow create{.id = flow_, .partition = partition(), .submit = {}, .nodes = {}};
    for (auto& each : nodes) {
      const auto id = id_of(each.name.str());
      create.nodes.push_back({id, std::move(each)});
    }
    run(std::move(create));
  }
  // A node and many after it, which are more than one step looks at.
  void create_fan() {
    std::vector<FlowNode> nodes{node("first")};
    for (int i = 0; i < 250; ++i)
      nodes.push_back(node(fmt::format("n{}", i), {{.node = named("first")}}));
    create(std::move(nodes));
  }

  void complete(const std::string& name) {
    const auto claimed = run(core::LeaseGrant{.id = id_of(name),
                                              .worker = *WorkerId::parse("w"),
                                              .lease_id = LeaseId{flow_.uuid()},
                                              .attempt_id = AttemptId{flow_.uuid()},
                                              .lease_ttl = 10s});
    run(Complete{.id = claimed.id, .fence = claimed.fence});
  }

  std::vector<core::Effect> effects() {
    std::vector<core::Effect> all;
    for (auto& each : run(store::FindEffects{.max = 1'000}).effects)
      all.push_back(std::move(each.effect));
    return all;
  }
  // All slices of each, as an outbox does them.
  void carry_out(const std::vector<core::Effect>& effects) {
    for (const auto& effect : effects) {
      if (const auto* advance = std::get_if<core::AdvanceFlow>(&effect)) carry_out_slices(*advance);
      if (const auto* edges = std::get_if<core::ResolveEdges>(&effect)) carry_out_slices(*edges);
      if (const auto* rest = std::get_if<core::CancelRest>(&effect)) carry_out_slices(*rest);
    }
  }
  void settle(std::vector<core::Effect> effects) {
    run(store::SettleEffects{.partition = partition(), .effects = std::move(effects)});
  }
  std::uint32_t count(ExecutionState state) {
    std::uint32_t found = 0;
    for (const auto& each : run(ListFlowNodes{.id = flow_, .limit = 1'000}).nodes)
      found += each.state == state ? 1 : 0;
    return found;
  }

  const FlowId flow_{*Uuid::parse("01920000-0000-7000-8000-00000000f10f")};

 private:
  template <class Slice>
  void carry_out_slices(Slice slice) {
    for (auto reply = run(slice); reply.more; reply = run(slice))
      if constexpr (requires { slice.after; }) slice.after = reply.next;
  }

  test::TempDirectory temp_;
  embedded::MemoryEnv env_;
  std::unique_ptr<test::ValkeyServer> server_;
  std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
  std::unique_ptr<store::Store> store_;
};

TEST_P(FlowEffects, AWalkThatBeganBeforeTheLastOneWasSettledGoesOn) {
  std::vector<FlowNode> nodes;
  for (int i = 0; i < 250; ++i) nodes.push_back(node(fmt::format("n{}", i)));
  create(std::move(nodes));
  run(PauseFlow{.id = flow_});
  const auto earlier = effects();
  ASSERT_THAT(earlier, SizeIs(1));
  carry_out(earlier);
  run(core::BeginCancel{.id = flow_});
  settle(earlier);
  const auto later = effects();
  ASSERT_THAT(later, SizeIs(1));
  carry_out(later);
  settle(later);
  EXPECT_THAT(effects(), IsEmpty());
  EXPECT_EQ(count(ExecutionState::cancelled), 250u);
}

TEST_P(FlowEffects, EdgesThatAreToBeOpenedAgainSurviveTheSettlingOfTheirDecision) {
  create_fan();
  run(Cancel{.id = id_of("first"), .reason = "why"});
  const auto decided = effects();
  ASSERT_THAT(decided, SizeIs(1));
  carry_out(decided);
  EXPECT_EQ(count(ExecutionState::skipped), 250u);
  run(Replay{.id = id_of("first")});
  const auto both = effects();
  EXPECT_THAT(both, SizeIs(2));
  settle(decided);
  const auto opened = effects();
  ASSERT_THAT(opened, SizeIs(1));
  run(Cancel{.id = id_of("first"), .reason = "why"});
  settle(opened);
  const auto decided_again = effects();
  ASSERT_THAT(decided_again, SizeIs(1));
  EXPECT_THAT(decided_again, Not(decided));
  carry_out(decided_again);
  settle(decided_again);
  EXPECT_EQ(count(ExecutionState::skipped), 250u);
  EXPECT_THAT(effects(), IsEmpty());
}

TEST_P(FlowEffects, InputsOfANameAreFoundPageByPage) {
  std::vector<FlowNode> nodes;
  auto join = node("join");
  for (int i = 0; i < 1'100; ++i) {
    nodes.push_back(node(fmt::format("n{}", i)));
    join.after.push_back({.node = nodes.back().name});
  }
  nodes.push_back(std::move(join));
  create(std::move(nodes));
  GetInputs get{.id = id_of("join"), .name = named("n1099")};
  const auto first = run(get);
  EXPECT_THAT(first.inputs, IsEmpty());
  ASSERT_EQ(first.next, limits::inputs_page_max);
  get.from = *first.next;
  const auto second = run(get);
  EXPECT_THAT(second.inputs, SizeIs(1));
  EXPECT_FALSE(second.next);
}

TEST_P(FlowEffects, UpstreamsOfARaceThatOthersNeedAreCheckedInSlices) {
  std::vector<FlowNode> nodes;
  auto race = node("race");
  for (int i = 0; i < 40; ++i) nodes.push_back(node(fmt::format("n{}", i)));
  for (const auto& each : nodes) race.after.push_back({.node = each.name});
  race.needed = 1;
  race.rest = RestAction::cancel;
  // Each of them is looked at from many nodes that are over already.
  for (int i = 0; i < 90; ++i) {
    auto over = node(fmt::format("over{}", i), race.after);
    over.needed = 1;
    nodes.push_back(std::move(over));
  }
  nodes.push_back(std::move(race));
  create(std::move(nodes));
  for (auto i = 0; i < 90; ++i) run(Cancel{.id = id_of(fmt::format("over{}", i)), .reason = "why"});
  complete("n0");
  EXPECT_LT(count(ExecutionState::cancelled), 100u);
  for (auto left = effects(); !left.empty(); left = effects()) {
    carry_out(left);
    settle(left);
  }
  EXPECT_EQ(count(ExecutionState::cancelled), 90u + 39u);
}

TEST_P(FlowEffects, AFlowThatIsBeingRemovedIsGone) {
  create_fan();
  run(core::BeginCancel{.id = flow_});
  carry_out(effects());
  advance(std::chrono::days{30});
  run(core::Remove{{partition(), flow_.uuid()}});
  const auto removal = effects();
  const auto last = id_of("n249");
  EXPECT_EQ(error_of(core::ReadFlow{flow_}), Errc::flow_not_found);
  EXPECT_EQ(error_of(ListFlowNodes{.id = flow_}), Errc::flow_not_found);
  EXPECT_EQ(error_of(core::BeginRedrive{.id = flow_}), Errc::flow_not_found);
  EXPECT_EQ(error_of(core::BeginRedrive{.id = flow_, .from = last}), Errc::flow_not_found);
  EXPECT_EQ(error_of(core::BeginCancel{.id = flow_}), Errc::flow_not_found);
  EXPECT_EQ(error_of(Replay{.id = last}), Errc::execution_not_found);
  EXPECT_EQ(
      error_of(core::CreateFlow{.id = flow_, .partition = partition(), .submit = {}, .nodes = {}}),
      Errc::flow_being_removed);
  carry_out(removal);
  settle(removal);
  EXPECT_EQ(error_of(GetExecution{last}), Errc::execution_not_found);
  EXPECT_THAT(effects(), IsEmpty());
  create_fan();
}

TEST_P(FlowEffects, TheRestOfARaceThatIsRunAgainIsNotCancelled) {
  std::vector<FlowNode> nodes;
  auto race = node("race");
  for (int i = 0; i < 250; ++i) {
    nodes.push_back(node(fmt::format("n{}", i)));
    race.after.push_back({.node = nodes.back().name});
  }
  race.needed = 1;
  race.rest = RestAction::cancel;
  nodes.push_back(std::move(race));
  create(std::move(nodes));
  complete("n0");
  run(core::BeginRedrive{.id = flow_, .from = id_of("n0")});
  const auto open = count(ExecutionState::waiting);
  EXPECT_GT(open, 100u);
  carry_out({core::CancelRest{.id = id_of("race"), .run = 0}});
  EXPECT_EQ(count(ExecutionState::waiting), open);
}

INSTANTIATE_TEST_SUITE_P(, FlowEffects, ::testing::Values("embedded", "valkey"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace ff::differential
