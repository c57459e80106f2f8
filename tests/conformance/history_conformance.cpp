// History of attempts and leases.
#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, ExecutionThatNeverRanHasNoHistory) {
  const auto id = submit();
  EXPECT_EQ(attempts_of(id), "");
  EXPECT_EQ(leases_of(id), "");
  EXPECT_EQ(error_of(GetAttempts{id_in(1, 1)}), Errc::execution_not_found);
  EXPECT_EQ(error_of(GetLeaseHistory{id_in(1, 1)}), Errc::execution_not_found);
}

TEST_P(Conformance, AttemptsTellWhoTriedWhenAndHowThatEnded) {
  const auto id =
      submit(Submit{.kind = greet, .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{5s}}}});
  const auto first = claim("w1");
  const auto started = now();
  advance(2s);
  must(run(failure(first, "no paper", "transient")));
  const auto attempts = must(run(GetAttempts{id})).attempts;
  ASSERT_EQ(attempts.size(), 1u);
  EXPECT_EQ(attempts[0], (AttemptInfo{.index = 0,
                                      .id = first.fence.attempt_id,
                                      .type = AttemptType::initial,
                                      .worker = worker("w1"),
                                      .started_at = started,
                                      .ended_at = now(),
                                      .outcome = AttemptOutcome::failure,
                                      .failure_reason = "no paper",
                                      .failure_category = "transient",
                                      .retry_at = now() + 5s}));
}

TEST_P(Conformance, HistoryHasEveryAttemptAndLeaseInOrder) {
  const auto id =
      submit(Submit{.kind = greet, .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{0ms}}}});
  claim("dies");
  pass(lease_ttl);
  must(run(failure(claim("fails"), "oops")));
  must(run(delay(claim("pauses"), 0ms)));
  claim("revoked");
  must(run(RevokeLease{.id = id, .reason = "moved"}));
  must(run(complete(claim("ends"))));

  constexpr const char* attempts =
      "0 initial by dies: interrupted (lease expired), "
      "1 reclaim (lease expired) by fails: failure (oops), "
      "2 retry (oops) by revoked: interrupted (lease revoked: moved), "
      "3 reclaim (lease revoked: moved) by ends: success";
  constexpr const char* leases =
      "acquired#1 dies, expired#1 dies, "
      "acquired#2 fails, released#2 fails (failed_retry_scheduled), "
      "acquired#3 pauses, released#3 pauses (worker_delay), "
      "acquired#4 revoked, revoked#4 revoked (moved), "
      "acquired#5 ends, released#5 ends (completed)";
  EXPECT_EQ(attempts_of(id), attempts);
  EXPECT_EQ(leases_of(id), leases);
  home_->restart();
  EXPECT_EQ(attempts_of(id), attempts);
  EXPECT_EQ(leases_of(id), leases);
}

TEST_P(Conformance, LeaseHistoryTellsEveryWayALeaseEnds) {
  const auto ended_by = [&](auto end) {
    const auto id = submit(Submit{.kind = greet, .policy = {.attempt_timeout = 10s}});
    const auto claimed = claim("w");
    end(claimed);
    const auto leases = leases_of(id);
    if (!is_terminal(state_of(id))) must(run(Cancel{.id = id}));
    return leases.substr(std::string("acquired#1 w, ").size());
  };
  using Claimed = const ClaimedExecution&;
  EXPECT_EQ(ended_by([&](Claimed c) { must(run(failure(c))); }), "released#1 w (failed_terminal)");
  EXPECT_EQ(ended_by([&](Claimed c) { must(run(Cancel{.id = c.id})); }),
            "released#1 w (cancelled)");
  EXPECT_EQ(ended_by([&](Claimed c) { must(run(WaitForChildren{.id = c.id, .fence = c.fence})); }),
            "released#1 w (waiting_children)");
  EXPECT_EQ(ended_by([&](Claimed c) {
              must(run(HandBack{.id = c.id, .fence = c.fence, .reason = "stopping"}));
            }),
            "released#1 w (handed_back:stopping)");
  EXPECT_EQ(ended_by([&](Claimed) { pass(10s); }), "released#1 w (expired:attempt_timeout)");
}

TEST_P(Conformance, HistoryShowsTheLeaseThatIsHeld) {
  const auto id = submit();
  const auto claimed = claim("w1");
  const auto events = must(run(GetLeaseHistory{id})).events;
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0], (LeaseEvent{.type = LeaseEventType::acquired,
                                   .at = now(),
                                   .lease_id = claimed.fence.lease_id,
                                   .lease_epoch = LeaseEpoch{1},
                                   .attempt_index = 0,
                                   .worker = worker("w1")}));
  EXPECT_EQ(attempts_of(id), "0 initial by w1: running");
}

TEST_P(Conformance, HistoryOfManyAttemptsIsWhole) {
  const auto id = submit();
  for (int i = 0; i < 70; ++i) {
    claim();
    must(run(RevokeLease{.id = id}));
  }
  EXPECT_EQ(must(run(GetAttempts{id})).attempts.size(), 70u);
  home_->restart();
  EXPECT_EQ(must(run(GetAttempts{id})).attempts.size(), 70u);
  EXPECT_EQ(must(run(GetLeaseHistory{id})).events.size(), 140u);
}

TEST_P(Conformance, CountersOfAnExecutionAreKeptAcrossARestart) {
  const auto id =
      submit(Submit{.kind = greet, .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{0ms}}}});
  must(run(Cancel{.id = id}));
  must(run(Replay{.id = id}));
  claim("dies");
  pass(lease_ttl);
  must(run(failure(claim())));
  const auto before = info(id);
  EXPECT_EQ(std::tuple(before.attempts, before.retries, before.reclaims, before.replays),
            std::tuple(2u, 1u, 1u, 1u));
  EXPECT_EQ(before.lease_epoch, LeaseEpoch{2});
  home_->restart();
  EXPECT_EQ(info(id), before);
}

}  // namespace
}  // namespace ff::conformance
