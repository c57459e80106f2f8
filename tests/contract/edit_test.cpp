#include <fmt/format.h>

#include "tests/contract/fixture.hpp"

namespace ff::test {
namespace {

using ChangePriority = Contract;

TEST_F(ChangePriority, MovesTheExecutionInItsQueue) {
  bring_to("waiting");
  EXPECT_EQ(run(change_priority("1.5")), "1 OK 0 1.5");
  EXPECT_EQ(core("priority"), "1.5");
  EXPECT_EQ(std::stod(store()["idx:lane:main:eligible"]["<E>"]),
            static_cast<double>(time_in_core("created_at")) - 1.5e12);
}

TEST_F(ChangePriority, PutsBackAnEntryThatWasMissing) {
  bring_to("waiting");
  command({"ZREM", lane_key("eligible"), E});
  run(change_priority("2"));
  EXPECT_TRUE(store().contains("idx:lane:main:eligible"));
}

TEST_F(ChangePriority, RefusesInThisOrder) {
  expect_refused(change_priority("x"), "0 invalid_input new_priority must be a number, got: x");
  expect_refused(change_priority("5"), "0 execution_not_found");
  for (const std::string state : {"active", "expired", "completed"}) {
    bring_to(state);
    expect_refused(change_priority("5"), "0 execution_not_eligible");
  }
}

// The priority counts when they are ready.
TEST_F(ChangePriority, IsForWhatIsNotReadyToo) {
  for (const std::string state : {"delayed", "blocked", "children", "retrying"}) {
    bring_to(state);
    EXPECT_EQ(run(change_priority("5")), "1 OK 0 5") << state;
    EXPECT_FALSE(store().contains("idx:lane:main:eligible")) << state;
  }
}

using SetTags = Contract;

TEST_F(SetTags, WritesThem) {
  bring_to("waiting");
  EXPECT_EQ(change(set_tags({"a.b", "c", "d.e", ""})), R"(1 OK 2
core has_tags=1
core last_mutation_at=t
tags a.b=c
tags d.e=
)");
}

TEST_F(SetTags, RefusesInThisOrder) {
  expect_refused(set_tags({}),
                 "0 invalid_input tags must be non-empty even-length key/value pairs");
  expect_refused(set_tags({"A"}),
                 "0 invalid_input tags must be non-empty even-length key/value pairs");
  expect_refused(set_tags({"A", "b"}), "0 execution_not_found");
  bring_to("waiting");
  expect_refused(set_tags({"a.b", "c", "Bad", "d", "Worse", "e"}), "0 invalid_tag_key Bad");
}

TEST_F(SetTags, TakesAnyNumberOfThem) {
  bring_to("waiting");
  Texts pairs;
  for (int i = 0; i < 6000; ++i) {
    pairs.push_back(fmt::format("a.k{}", i));
    pairs.emplace_back("v");
  }
  EXPECT_EQ(run(set_tags(pairs)), "1 OK 6000");
  EXPECT_EQ(store()["tags"].size(), 6000U);
}

using Replay = Contract;

TEST_F(Replay, RunsItOnceMore) {
  bring_to("failed");
  EXPECT_EQ(change(replay()), R"(1 OK 0
core -completed_at
core -failure_category
core -failure_reason
idx:lane:main:terminal -<E>
idx:totals -main)"
                              "\x1f"
                              R"(failed
core attempt_state=pending_replay_attempt
core blocking_reason=waiting_for_worker
core eligibility_state=eligible_now
core last_mutation_at=t
core last_transition_at=t
core lifecycle_phase=runnable
core pending_replay_at=t
core pending_replay_attempt=1
core pending_replay_reason=replayed
core pending_replay_requested_by=operator
core public_state=waiting
core queued_at=t
core replay_count=1
core terminal_outcome=none
idx:lane:main:eligible <E>=t
)");
  EXPECT_EQ(store()["idx:lane:main:eligible"]["<E>"], core("queued_at"));
}

TEST_F(Replay, RefusesInThisOrder) {
  expect_refused(replay(), "0 execution_not_found");
  bring_to("active");
  expect_refused(replay(), "0 execution_not_terminal");
  run(create().of(other_E).with(7, R"({"max_replay_count":0})"));
  run(cancel().of(other_E));
  EXPECT_EQ(run(replay().of(other_E)), "0 max_replays_exhausted");
}

TEST_F(Replay, TellsItsAttemptWhyAndOfWhat) {
  bring_to("failed");
  auto call = replay();
  call.argv.insert(call.argv.end(), {"fixed the input", "ann"});
  run(call);
  run(grant_and_claim(2));
  EXPECT_EQ(attempt("1", "attempt_type"), "replay");
  EXPECT_EQ(attempt("1", "replay_reason"), "fixed the input");
  EXPECT_EQ(attempt("1", "replay_requested_by"), "ann");
  EXPECT_EQ(attempt("1", "replayed_from_attempt_index"), "0");
}

TEST_F(Replay, BeginsWithNothingOfTheRunBefore) {
  run(create().with(12, far_future));
  run(grant_and_claim());
  command({"HSET", exec_key("core"), "retry_count", "3"});
  run(complete());
  run(replay());
  EXPECT_FALSE(store().contains("result"));
  EXPECT_EQ(core("retry_count"), "");
  EXPECT_TRUE(store().contains("idx:execution_deadline"));
}

}  // namespace
}  // namespace ff::test
