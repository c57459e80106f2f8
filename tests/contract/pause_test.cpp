#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

constexpr auto paused_core = R"(core -current_lease_id
core -current_worker_id
core -current_worker_instance_id
core -lease_acquired_at
core -lease_expires_at
core -lease_last_renewed_at
core -lease_renewal_deadline
idx:lane:main:active -<E>
idx:lease_expiry -<E>
idx:worker:w1-i1:leases -<E>
attempt:0 attempt_state=suspended
attempt:0 suspended_at=t
)";

using Text = std::string;
using Delay = Contract;

TEST_F(Delay, GivesTheExecutionBackUntilATime) {
  bring_to("active");
  EXPECT_EQ(change(delay()), "1 OK 4000000000000\n" + Text(paused_core) +
                                 R"(attempt:0 suspension_id=worker_delay
core attempt_state=attempt_interrupted
core blocking_detail=delayed until 4000000000000
core blocking_reason=waiting_for_delay
core delay_until=4000000000000
core eligibility_state=not_eligible_until_time
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=runnable
core ownership_state=unowned
core public_state=delayed
idx:delays <E>=4000000000000
idx:lane:main:delayed <E>=4000000000000
)");
}

TEST_F(Delay, MayBeOverAlready) {
  bring_to("active");
  EXPECT_EQ(run(delay(1, "1000")), "1 OK 1000");
  EXPECT_EQ(core("public_state"), "delayed");
  EXPECT_EQ(run(promote()), "1 OK promoted");
}

using WaitForChildren = Contract;

TEST_F(WaitForChildren, GivesTheExecutionBackUntilTheyHaveEnded) {
  bring_to("active");
  command({"SADD", exec_key("deps:unresolved"), "edge"});
  EXPECT_EQ(change(wait_for_children()), "1 OK\n" + Text(paused_core) +
                                             R"(attempt:0 suspension_id=waiting_children
core attempt_state=attempt_interrupted
core blocking_detail=waiting for child executions to complete
core blocking_reason=waiting_for_children
core eligibility_state=blocked_by_dependencies
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=runnable
core ownership_state=unowned
core public_state=waiting_children
idx:lane:main:blocked:dependencies <E>=t
)");
  EXPECT_EQ(store()["idx:lane:main:blocked:dependencies"]["<E>"], core("created_at"));
}

// An execution that waits for no children would never be woken.
TEST_F(WaitForChildren, DoesNotWaitForNone) {
  bring_to("active");
  EXPECT_EQ(run(wait_for_children()), "1 OK");
  EXPECT_EQ(core("public_state"), "waiting");
  EXPECT_TRUE(store().contains("idx:lane:main:eligible"));
}

using Promote = Contract;

TEST_F(Promote, EndsADelay) {
  bring_to("delayed");
  rewind_delay();
  EXPECT_EQ(change(promote()), R"(1 OK promoted
core -blocking_detail
core -delay_until
idx:delays -<E>
idx:lane:main:delayed -<E>
core blocking_reason=waiting_for_worker
core eligibility_state=eligible_now
core last_mutation_at=t
core last_transition_at=t
core public_state=waiting
idx:lane:main:eligible <E>=t
)");
}

TEST_F(Promote, GoesByTheServersClock) {
  bring_to("delayed");
  expect_refused(promote().with(2, "9000000000000"), "1 OK not_yet_due");
  rewind_delay();
  EXPECT_EQ(run(promote().with(2, "0")), "1 OK promoted");
  EXPECT_GT(time_in_core("last_mutation_at"), 1'000'000'000'000);
}

TEST_F(Promote, RemovesEntriesThatShouldNotBeThere) {
  const auto misplaced = [&] { command({"ZADD", lane_key("delayed"), "1", E}); };
  misplaced();
  EXPECT_EQ(run(promote()), "1 OK not_found_cleaned");
  EXPECT_TRUE(store().empty());
  bring_to("active");
  misplaced();
  EXPECT_EQ(run(promote()), "1 OK not_runnable_cleaned");
  EXPECT_FALSE(store().contains("idx:lane:main:delayed"));
  bring_to("waiting");
  misplaced();
  EXPECT_EQ(run(promote()), "1 OK not_delayed_cleaned");
  EXPECT_FALSE(store().contains("idx:lane:main:delayed"));
}

// The set that the caller names may be the one that it belongs in.
TEST_F(Promote, RemovesNoEntryThatShouldBeThere) {
  bring_to("waiting");
  expect_refused(promote().key(2, lane_key("eligible")), "1 OK not_delayed_cleaned");
}

}  // namespace
}  // namespace ff::test
