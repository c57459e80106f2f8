#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

using Block = Contract;

TEST_F(Block, KeepsAReadyExecutionFromBeingClaimed) {
  bring_to("waiting");
  EXPECT_EQ(change(block()), R"(1 OK blocked
idx:lane:main:eligible -<E>
core blocking_detail=too dear
core blocking_reason=waiting_for_budget
core eligibility_state=blocked_by_budget
core last_mutation_at=t
core last_transition_at=t
core public_state=rate_limited
idx:lane:main:blocked:budget <E>=t
)");
}

// The index is that of the reason, whichever the caller passes.
TEST_F(Block, StoresTheStateThatFollowsFromTheReason) {
  struct Row {
    std::string reason, eligibility, public_state, index;
  };
  for (const auto& row : std::vector<Row>{
           {"waiting_for_budget", "blocked_by_budget", "rate_limited", "blocked:budget"},
           {"waiting_for_quota", "blocked_by_quota", "rate_limited", "blocked:quota"},
           {"waiting_for_capable_worker", "blocked_by_route", "waiting", "blocked:route"},
           {"paused_by_operator", "blocked_by_operator", "waiting", "blocked:operator"},
           {"paused_by_policy", "blocked_by_lane_state", "waiting", "blocked:operator"}}) {
    bring_to("waiting");
    EXPECT_EQ(run(block(row.reason)), "1 OK blocked");
    EXPECT_EQ(core("eligibility_state"), row.eligibility);
    EXPECT_EQ(core("public_state"), row.public_state);
    EXPECT_EQ(store()["idx:lane:main:" + row.index].count("<E>"), 1U) << row.reason;
    EXPECT_EQ(run(unblock()), "1 OK unblocked") << row.reason;
    EXPECT_EQ(store()["idx:lane:main:eligible"].count("<E>"), 1U) << row.reason;
  }
}

TEST_F(Block, RefusesInThisOrder) {
  expect_refused(block(), "0 execution_not_found");
  expect_refused(block().with(4, "x"), "0 invalid_input now_ms must be a number, got: x");
  bring_to("completed");
  expect_refused(block("weird"), "0 execution_not_active success 1 terminal A1");
  bring_to("active");
  expect_refused(block("weird"), "0 execution_not_eligible");
  bring_to("waiting");
  expect_refused(block("weird"), "0 invalid_blocking_reason");
}

TEST_F(Block, MayBeRepeated) {
  bring_to("blocked");
  expect_refused(block(), "1 OK blocked");
}

TEST_F(Block, TakesNothingOutOfAnotherIndex) {
  for (const std::string state : {"delayed", "children", "retrying"}) {
    bring_to(state);
    expect_refused(block(), "0 execution_not_eligible");
  }
  bring_to("blocked");
  expect_refused(block("waiting_for_quota"), "0 execution_not_eligible");
}

TEST_F(Block, RespectsALiveGrant) {
  bring_to("granted");
  expect_refused(block(), "0 grant_already_exists");
  EXPECT_EQ(run(claim()), "1 OK L1 1 X A1 0 initial");
}

using Unblock = Contract;

TEST_F(Unblock, LetsItBeClaimed) {
  bring_to("blocked");
  EXPECT_EQ(change(unblock()), R"(1 OK unblocked
core -blocking_detail
idx:lane:main:blocked:budget -<E>
core blocking_reason=waiting_for_worker
core eligibility_state=eligible_now
core last_mutation_at=t
core last_transition_at=t
core public_state=waiting
idx:lane:main:eligible <E>=t
)");
}

TEST_F(Unblock, RefusesInThisOrder) {
  expect_refused(unblock(), "0 execution_not_found");
  expect_refused(unblock().with(2, "soon"), "0 invalid_input now_ms must be a number, got: soon");
  for (const std::string state : {"active", "waiting", "delayed", "children"}) {
    bring_to(state);
    expect_refused(unblock(), "0 execution_not_eligible");
  }
  bring_to("blocked");
  expect_refused(unblock().with(3, "waiting_for_quota"), "0 execution_not_eligible");
  EXPECT_EQ(run(unblock().with(3, "waiting_for_budget")), "1 OK unblocked");
}

}  // namespace
}  // namespace ff::test
