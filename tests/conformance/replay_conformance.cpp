#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, ReplayRunsAnEndedExecutionOnceMore) {
  const auto id = submit("work");
  must(run(failure(claim("w1"), "bug")));
  const Replay replay{.id = id, .reason = "bug fixed", .requested_by = "ada"};
  EXPECT_EQ(must(run(replay)).state, ExecutionState::waiting);
  EXPECT_EQ(info(id).completed_at, std::nullopt);
  EXPECT_EQ(info(id).replays, 1u);

  const auto claimed = claim("w2");
  EXPECT_EQ(claimed.payload, "work");
  EXPECT_EQ(claimed.attempt_type, AttemptType::replay);
  EXPECT_EQ(claimed.attempt_index, 1u);
  EXPECT_FALSE(claimed.resumed);
  must(run(complete(claimed)));
  EXPECT_EQ(attempts_of(id), "0 initial by w1: failure (bug), 1 replay (bug fixed) by w2: success");
  EXPECT_EQ(must(run(GetAttempts{id})).attempts.at(1).requested_by, "ada");
}

TEST_P(Conformance, ReplayThatNobodySaidToWantIsToldSo) {
  const auto id = submit();
  must(run(complete(claim())));
  must(run(Replay{.id = id}));
  claim();
  const auto attempts = must(run(GetAttempts{id})).attempts;
  EXPECT_EQ(attempts.at(0).requested_by, std::nullopt);
  EXPECT_EQ(attempts.at(1).requested_by, "");
}

TEST_P(Conformance, EveryEndCanBeReplayed) {
  std::vector<ExecutionId> ids;
  for (int i = 0; i < 2; ++i) ids.push_back(submit());
  const auto claimed = claim_many(2);
  must(run(complete(claimed[0])));
  must(run(failure(claimed[1])));
  ids.push_back(submit());
  must(run(Cancel{.id = ids.back()}));
  ids.push_back(submit(Submit{.kind = greet, .deadline = now()}));
  home_->run_scanners();
  for (const auto& id : ids) EXPECT_TRUE(run(Replay{.id = id}));
  EXPECT_EQ(claim_many(9).size(), ids.size());
}

TEST_P(Conformance, EndBeforeTheReplaysAttemptKeepsThatOnePending) {
  const auto id = submit();
  must(run(Cancel{.id = id}));
  EXPECT_EQ(info(id).state_vector.attempt_state, AttemptState::pending_first_attempt);
  must(run(Replay{.id = id}));
  must(run(Cancel{.id = id}));
  EXPECT_EQ(info(id).state_vector.attempt_state, AttemptState::pending_replay_attempt);
}

TEST_P(Conformance, ReplayBeforeTheEndIsRefused) {
  const auto id = submit();
  EXPECT_EQ(error_of(Replay{.id = id}), Errc::execution_not_terminal);
  claim();
  EXPECT_EQ(error_of(Replay{.id = id}), Errc::execution_not_terminal);
  EXPECT_EQ(error_of(Replay{.id = id_in(1, 1)}), Errc::execution_not_found);
}

TEST_P(Conformance, ReplayHappensAsOftenAsThePolicyAllows) {
  const auto replays_of = [&](Policy policy) {
    const auto id = submit(Submit{.kind = greet, .policy = std::move(policy)});
    std::uint32_t replays = 0;
    for (;; ++replays) {
      must(run(Cancel{.id = id}));
      if (error_or_none(Replay{.id = id}) == Errc::max_replays_exhausted) return replays;
    }
  };
  EXPECT_EQ(replays_of({}), 10u);
  EXPECT_EQ(replays_of({.max_replay_count = 2}), 2u);
  EXPECT_EQ(replays_of({.max_replay_count = 0}), 0u);
}

TEST_P(Conformance, ReplayedRunHasItsRetriesAndReclaimsAgain) {
  const auto id =
      submit(Submit{.kind = greet,
                    .policy = {.retry = RetryPolicy{.max_retries = 1, .backoff = FixedBackoff{0ms}},
                               .max_reclaim_count = 1}});
  for (int i = 0; i < 2; ++i) {
    claim("dies");
    pass(lease_ttl);
    EXPECT_EQ(must(run(failure(claim()))).state, ExecutionState::waiting);
    EXPECT_EQ(must(run(failure(claim()))).state, ExecutionState::failed);
    must(run(Replay{.id = id}));
    EXPECT_EQ(info(id).retries, 0u);
    EXPECT_EQ(info(id).reclaims, 0u);
  }
}

TEST_P(Conformance, ReplayedRunQueuesBehindWhatWaitsAlready) {
  const auto replayed = submit();
  must(run(complete(claim())));
  advance(1ms);
  const auto waiting = submit();
  advance(1ms);
  must(run(Replay{.id = replayed}));
  EXPECT_EQ(claim().id, waiting);
  EXPECT_EQ(claim().id, replayed);
}

TEST_P(Conformance, ResultOfAnEarlierRunIsGone) {
  const auto id = submit();
  must(run(complete(claim(), "first")));
  must(run(Replay{.id = id}));
  EXPECT_EQ(error_of(GetResult{id}), Errc::execution_not_terminal);
  must(run(failure(claim())));
  EXPECT_EQ(error_of(GetResult{id}), Errc::execution_failed);
  must(run(Replay{.id = id}));
  must(run(Complete{.id = id, .fence = claim().fence}));
  EXPECT_EQ(must(run(GetResult{id})), (Bytes{.bytes = "", .absent = true}));
}

TEST_P(Conformance, WorkerOfAnEarlierRunCannotEndTheReplay) {
  const auto id = submit();
  const auto first = claim();
  must(run(complete(first)));
  must(run(Replay{.id = id}));
  EXPECT_EQ(error_of(complete(first)), Errc::execution_not_active);
  const auto second = claim();
  EXPECT_EQ(error_of(complete(first)), Errc::stale_lease);
  EXPECT_EQ(error_of(failure(first)), Errc::stale_lease);
  EXPECT_TRUE(run(complete(second)));
}

TEST_P(Conformance, ReplayedRunHasAsMuchTimeAsTheFirst) {
  const auto id = submit(Submit{.kind = greet, .deadline = now() + 10s});
  pass(10s);
  EXPECT_EQ(state_of(id), ExecutionState::expired);
  advance(1h);
  must(run(Replay{.id = id}));
  EXPECT_EQ(info(id).deadline, now() + 10s);
  pass(10s - 1ms);
  EXPECT_EQ(state_of(id), ExecutionState::waiting);
  pass(1ms);
  EXPECT_EQ(state_of(id), ExecutionState::expired);
}

TEST_P(Conformance, ReplayWakesAWaitingClaim) {
  const auto id = submit();
  must(run(complete(claim())));
  auto waiting = start(claim_by("w1", wake_up_max));
  must(run(Replay{.id = id}));
  EXPECT_EQ(woken(waiting).id, id);
}

TEST_P(Conformance, ReplayedExecutionIsKeptHoweverLongAgoItEnded) {
  const auto id = submit();
  must(run(complete(claim())));
  advance(25h);
  must(run(Replay{.id = id}));
  home_->run_scanners();
  must(run(complete(claim(), "second")));
  pass(23h);
  EXPECT_EQ(must(run(GetResult{id})).bytes, "second");
}

TEST_P(Conformance, ReplayIsKnownAfterARestart) {
  const auto id = submit(Submit{.kind = greet, .policy = {.max_replay_count = 1}});
  must(run(complete(claim("w1"))));
  must(run(Replay{.id = id, .reason = "again"}));
  home_->restart();
  EXPECT_EQ(claim("w2").attempt_type, AttemptType::replay);
  EXPECT_EQ(leases_of(id),
            "acquired#1 w1, released#1 w1 (completed), replay_initiated (again), acquired#2 w2");
  must(run(Cancel{.id = id}));
  EXPECT_EQ(error_of(Replay{.id = id}), Errc::max_replays_exhausted);
}

}  // namespace
}  // namespace ff::conformance
