#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

using ::testing::ElementsAre;

TEST_P(Conformance, ClaimTakesTheBestOfAllLanesAndPartitions) {
  const std::vector lanes{lane("a"), lane("b"), lane("c")};
  constexpr int count = 12;
  for (int i = 0; i < count; ++i)
    submit(Submit{.id = id_in(static_cast<PartitionIndex>(i * 20), 1),
                  .lane = lanes[static_cast<std::size_t>(i) % 3],
                  .kind = greet,
                  .priority = i * 7 % count});
  auto all = claim_by("w1");
  all.lanes = lanes;
  all.max = count;
  std::vector<std::int32_t> priorities;
  for (const auto& each : must(run(all)).executions) priorities.push_back(info(each.id).priority);
  EXPECT_THAT(priorities, ElementsAre(11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
}

TEST_P(Conformance, EqualPrioritiesAreClaimedInTheOrderOfTheirSubmission) {
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 40; ++i) {
    ids.push_back(submit());
    advance(1ms);
  }
  for (const auto& id : ids) EXPECT_EQ(claim().id, id);
}

TEST_P(Conformance, LaneThatIsNamedTwiceIsServedOnce) {
  submit();
  auto twice = claim_by("w1");
  twice.lanes = {default_lane(), default_lane()};
  twice.max = 5;
  EXPECT_EQ(must(run(twice)).executions.size(), 1u);
}

// ---- Nothing starves -----------------------------------------------------------------------------

TEST_P(Conformance, LowPriorityIsNotStarvedByUrgentWork) {
  const auto low = submit(Submit{.kind = greet, .priority = 0});
  advance(1ms);
  for (std::uint32_t i = 0; i < limits::oldest_first_every; ++i) {
    submit(Submit{.kind = greet, .priority = 9000});
    if (claim().id == low) return;
  }
  FAIL() << "it was never claimed";
}

TEST_P(Conformance, LowPriorityIsNotStarvedWhenWorkIsClaimedInBatches) {
  const auto low = submit(Submit{.kind = greet, .priority = 0});
  advance(1ms);
  for (int i = 0; i < 100; ++i) submit(Submit{.kind = greet, .priority = 9000});
  std::set<ExecutionId> claimed;
  for (const auto& each : claim_many(limits::oldest_first_every)) claimed.insert(each.id);
  EXPECT_TRUE(claimed.contains(low));
}

TEST_P(Conformance, LowPriorityIsNotStarvedByWorkersThatCannotRunIt) {
  const auto submit_for = [&](const char* token, std::int32_t priority) {
    return submit(Submit{
        .kind = greet, .priority = priority, .policy = {.required_capabilities = caps({token})}});
  };
  const auto claim_with = [&](const char* token) {
    auto capable = claim_by(token);
    capable.capabilities = caps({token});
    return must(run(capable)).executions.at(0).id;
  };
  const std::set waiting{submit_for("cpu", 0), submit_for("gpu", 0)};
  advance(1ms);
  std::set<ExecutionId> claimed;
  for (std::uint32_t i = 0; i < limits::oldest_first_every; ++i)
    for (const char* token : {"cpu", "gpu"}) {
      submit_for(token, 9000);
      claimed.insert(claim_with(token));
    }
  for (const auto& id : waiting) EXPECT_TRUE(claimed.contains(id));
}

TEST_P(Conformance, LaneIsNotStarvedByWorkersThatDoNotServeIt) {
  const auto low = submit(Submit{.lane = lane("quiet"), .kind = greet});
  advance(1ms);
  std::set<ExecutionId> claimed;
  auto both = claim_by("both");
  both.lanes = {default_lane(), lane("quiet")};
  for (std::uint32_t i = 0; i < limits::oldest_first_every; ++i) {
    for (int j = 0; j < 2; ++j) submit(Submit{.kind = greet, .priority = 9000});
    claimed.insert(must(run(both)).executions.at(0).id);
    claim("busy");
  }
  EXPECT_TRUE(claimed.contains(low));
}

TEST_P(Conformance, WorkerThatServesManyLanesReachesEachOfThem) {
  auto all = claim_by("w1");
  all.lanes.clear();
  for (int i = 0; i < 8; ++i) all.lanes.push_back(lane(fmt::format("lane-{}", i).c_str()));
  for (const auto& each : all.lanes) submit(Submit{.lane = each, .kind = greet});
  std::set<LaneId> reached;
  for (int i = 0; i < 8; ++i) reached.insert(must(run(all)).executions.at(0).lane);
  EXPECT_EQ(reached.size(), 8u);
}

// ---- Nothing hides what is behind it -------------------------------------------------------------

TEST_P(Conformance, GrantedExecutionDoesNotHideTheNextOne) {
  const auto first = submit();
  advance(1ms);
  const auto second = submit();
  const auto granted = must(run(Grant{.worker = worker("slow")}));
  EXPECT_EQ(granted.execution->id, first);
  EXPECT_EQ(claim("quick").id, second);
}

TEST_P(Conformance, ExecutionWhoseWorkerDiedGoesBeforeNewerOnes) {
  const auto old = submit();
  claim("dies");
  advance(1ms);
  submit();
  pass(lease_ttl);
  EXPECT_EQ(claim().id, old);
}

TEST_P(Conformance, CancelledExecutionDoesNotHideTheNextOne) {
  const auto first = submit();
  advance(1ms);
  const auto second = submit();
  must(run(Cancel{.id = first}));
  EXPECT_EQ(claim().id, second);
}

}  // namespace
}  // namespace ff::conformance
