#include "store/embedded/shard/indexes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/values.hpp"

namespace ff::embedded {
namespace {

using namespace std::chrono_literals;
using core::TimerKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using test::id_of;
using test::t0;

core::Execution execution(std::uint8_t number, core::State state = core::Waiting{},
                          const char* lane = "default") {
  return {.id = id_of(number),
          .ns = default_namespace(),
          .lane = *LaneId::parse(lane),
          .kind = *Kind::parse("k"),
          .created_at = t0,
          .queued_at = t0 + Millis{number},
          .state = std::move(state)};
}
core::Execution leased(std::uint8_t number, TimePoint until) {
  return execution(number, core::Active{.lease = {.fence = {},
                                                  .worker = *WorkerId::parse("w"),
                                                  .acquired_at = t0,
                                                  .expires_at = until}});
}
core::Execution delayed(std::uint8_t number, TimePoint until) {
  return execution(number, core::Delayed{until});
}
core::Execution completed(std::uint8_t number, const char* lane = "default") {
  return execution(number, core::Ended{.at = t0, .outcome = core::Completed{}}, lane);
}

core::Execution needing(std::uint8_t number, const char* capability, core::State state = {}) {
  auto made = execution(number, std::move(state));
  made.policy.required_capabilities = *CapabilitySet::parse({capability});
  return made;
}

class IndexesTest : public ::testing::Test {
 protected:
  void add(std::initializer_list<core::Execution> executions) {
    for (const auto& each : executions) indexes_.add(each);
  }
  std::vector<int> take() {
    std::vector<int> numbers;
    for (const auto& each : ready_.take({.ns = default_namespace(),
                            .lanes = {default_lane()},
                            .capabilities = {},
                            .max = 100}))
      numbers.push_back(each.id.partition());
    return numbers;
  }
  // "2 3, then +3000": who is due, and when the next one is.
  std::string due(TimerKind kind, TimePoint now, std::size_t max = 100) {
    const auto reply = indexes_.due({.kind = kind, .max = max}, now);
    std::string text;
    for (const auto& id : reply.due) text += fmt::format("{} ", id.partition());
    if (reply.next) text += fmt::format("then +{}", (*reply.next - t0).count());
    return text;
  }
  std::string counts(std::optional<LaneId> lane = {}) {
    std::string text;
    for (const auto& each : sum({indexes_.counts(default_namespace(), lane)}).counts)
      text += fmt::format("{} {} {}; ", each.lane.str(), to_string(each.state), each.count);
    return text;
  }

  // "default gpu 2": how many wait for a worker that has it.
  std::string waiting(std::optional<Namespace> ns = {}) {
    std::string text;
    for (const auto& each : sum_waiting({indexes_.waiting(ns)}))
      text += fmt::format("{} {} {}; ", each.lane.str(), each.needs.capabilities.csv(), each.count);
    return text;
  }

  store::ReadyQueue ready_;
  Indexes indexes_{ready_};
};

TEST_F(IndexesTest, QueueWhatIsReadyAndNothingElse) {
  add({execution(1), delayed(2, t0 + 1s), leased(3, t0 + 1s), completed(4), execution(5),
       execution(6, core::WaitingChildren{}),
       execution(7, core::Granted{.worker = *WorkerId::parse("w"), .expires_at = t0})});
  EXPECT_THAT(take(), ElementsAre(1, 5));
}

TEST_F(IndexesTest, ForgetWhatIsRemoved) {
  add({execution(1), leased(2, t0)});
  indexes_.remove(execution(1));
  indexes_.remove(leased(2, t0));
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(due(TimerKind::lease_expiry, t0 + 1h), "");
  EXPECT_EQ(counts(), "");
}

TEST_F(IndexesTest, KnowWhatIsDueAndWhatComesNext) {
  add({leased(1, t0 + 3s), leased(2, t0 + 1s), leased(3, t0 + 2s), delayed(4, t0 + 1s)});
  EXPECT_EQ(due(TimerKind::lease_expiry, t0), "then +1000");
  EXPECT_EQ(due(TimerKind::lease_expiry, t0 + 2s), "2 3 then +3000");
  EXPECT_EQ(due(TimerKind::lease_expiry, t0 + 9s), "2 3 1 ");
  EXPECT_EQ(due(TimerKind::delay, t0 + 1s), "4 ");
  EXPECT_EQ(due(TimerKind::grant_expiry, t0 + 1h), "");
}

TEST_F(IndexesTest, SayAtOnceThatThereIsMoreThanWasAskedFor) {
  add({leased(1, t0 + 1s), leased(2, t0 + 2s)});
  EXPECT_EQ(due(TimerKind::lease_expiry, t0 + 5s, 1), "1 then +5000");
}

TEST_F(IndexesTest, HaveOneTimerOfEachTheFirstThatComes) {
  auto with_deadline = leased(1, t0 + 3s);
  with_deadline.deadline = t0 + 2s;
  add({with_deadline});
  EXPECT_EQ(due(TimerKind::execution_deadline, t0 + 5s), "1 ");
  EXPECT_EQ(due(TimerKind::lease_expiry, t0 + 5s), "");
}

TEST_F(IndexesTest, CountByLaneAndState) {
  add({execution(1), execution(2), leased(3, t0), completed(4), completed(5, "other")});
  EXPECT_EQ(counts(),
            "default waiting 2; default active 1; default completed 1; "
            "other completed 1; ");
  EXPECT_EQ(counts(*LaneId::parse("other")), "other completed 1; ");
  indexes_.remove(execution(1));
  EXPECT_EQ(counts(default_lane()), "default waiting 1; default active 1; default completed 1; ");
}

TEST_F(IndexesTest, CountOnFromWhatWasCountedBefore) {
  CountByState before{};
  before[static_cast<std::size_t>(ExecutionState::completed)] = 40;
  indexes_.add_ended({default_namespace(), default_lane()}, before);
  add({completed(1)});
  EXPECT_EQ(counts(), "default completed 41; ");
}

// Another shard may have counted what this one forgets.
TEST_F(IndexesTest, MayHoldAShareBelowZero) {
  indexes_.remove(completed(1));
  const auto mine = indexes_.counts(default_namespace(), {});
  CountByState other{};
  other[static_cast<std::size_t>(ExecutionState::completed)] = 3;
  const StateCount expected{.lane = default_lane(), .state = ExecutionState::completed, .count = 2};
  EXPECT_THAT(sum({mine, {{.lane = default_lane(), .counts = other}}}).counts,
              ElementsAre(expected));
}

TEST_F(IndexesTest, AreMendedFromTheRecords) {
  add({execution(1), leased(1, t0)});  // of one partition; only one can be true
  EXPECT_EQ(indexes_.mend(1, {delayed(1, t0 + 1s)}), 2u);
  EXPECT_EQ(due(TimerKind::delay, t0 + 1s), "1 ");
  EXPECT_EQ(due(TimerKind::lease_expiry, t0 + 1s), "");
  EXPECT_EQ(indexes_.mend(1, {delayed(1, t0 + 1s)}), 0u);
}

TEST_F(IndexesTest, MendWhatIsReadyButNotQueued) {
  EXPECT_EQ(indexes_.mend(1, {execution(1)}), 1u);
  EXPECT_THAT(take(), ElementsAre(1));
  EXPECT_EQ(indexes_.mend(1, {execution(1)}), 0u) << "it is taken, which is in order";
}

TEST_F(IndexesTest, CountWaitingExecutionsByTheirNeeds) {
  const core::Granted set_aside{.worker = *WorkerId::parse("w"), .expires_at = t0 + 1s};
  add({needing(1, "gpu"), needing(2, "gpu"), needing(3, "cuda"), execution(4),
       needing(5, "gpu", core::Delayed{t0 + 1s}), needing(6, "gpu", set_aside)});
  EXPECT_EQ(waiting(), "default cuda 1; default gpu 2; ");
  EXPECT_EQ(waiting(*Namespace::parse("other")), "");
  indexes_.remove(needing(1, "gpu"));
  indexes_.remove(needing(3, "cuda"));
  EXPECT_EQ(waiting(), "default gpu 1; ");
}

TEST_F(IndexesTest, SumTheCountsOfAllShards) {
  const store::WaitingCount gpu{.ns = default_namespace(),
                                .lane = default_lane(),
                                .needs = {.capabilities = *CapabilitySet::parse({"gpu"})},
                                .count = 2};
  auto both = gpu;
  both.count = 4;
  EXPECT_THAT(sum_waiting({{gpu}, {}, {gpu}}), ElementsAre(both));
}

TEST_F(IndexesTest, ExecutionsAreFoundByTheWorkerThatHoldsThem) {
  const auto held = [&](std::optional<WorkerId> worker = {}, std::size_t max = 100) {
    std::vector<int> numbers;
    for (const auto& each :
         indexes_.held({.ns = default_namespace(), .worker = std::move(worker), .max = max}))
      numbers.push_back(each.id.partition());
    return numbers;
  };
  add({leased(1, t0 + 1s), leased(2, t0 + 2s), execution(3), completed(4)});
  EXPECT_THAT(held(), ElementsAre(1, 2));
  EXPECT_THAT(held(*WorkerId::parse("w")), ElementsAre(1, 2));
  EXPECT_THAT(held(*WorkerId::parse("v")), IsEmpty());
  EXPECT_THAT(held({}, 1), ElementsAre(1));
  indexes_.remove(leased(1, t0 + 1s));
  EXPECT_THAT(held(), ElementsAre(2));
}

}  // namespace
}  // namespace ff::embedded
