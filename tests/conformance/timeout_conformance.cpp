// Timeouts of an attempt, and of the whole execution.
#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

TEST_P(Conformance, AttemptThatTakesTooLongExpiresTheExecution) {
  const auto id = submit(Submit{.kind = greet, .policy = {.attempt_timeout = 10s}});
  const auto claimed = claim();
  EXPECT_EQ(claimed.attempt_deadline, now() + 10s);
  pass(10s - 1ms);
  EXPECT_EQ(state_of(id), ExecutionState::active);
  pass(1ms);
  EXPECT_EQ(state_of(id), ExecutionState::expired);
  EXPECT_EQ(info(id).failure_reason, "attempt_timeout");
  EXPECT_EQ(error_of(complete(claimed)), Errc::execution_not_active);
  EXPECT_EQ(run(GetResult{id}).error().code, Errc::execution_failed);
}

TEST_P(Conformance, AttemptThatTakesTooLongIsRetriedByThePolicy) {
  const auto id =
      submit(Submit{.kind = greet,
                    .policy = {.retry = RetryPolicy{.max_retries = 1, .backoff = FixedBackoff{5s}},
                               .attempt_timeout = 10s}});
  claim("w1");
  pass(10s);
  EXPECT_EQ(state_of(id), ExecutionState::delayed);
  pass(5s);
  const auto second = claim("w2");
  EXPECT_EQ(second.attempt_type, AttemptType::retry);
  EXPECT_EQ(second.attempt_deadline, now() + 10s);
  pass(10s);
  EXPECT_EQ(state_of(id), ExecutionState::expired);
  EXPECT_EQ(attempts_of(id),
            "0 initial by w1: failure (attempt_timeout), "
            "1 retry (attempt_timeout) by w2: failure (attempt_timeout)");
}

TEST_P(Conformance, TimeoutIsOnlyRetriedIfItsCategoryIs) {
  const auto id =
      submit(Submit{.kind = greet,
                    .policy = {.retry = RetryPolicy{.retryable_categories = {"transient"}},
                               .attempt_timeout = 10s}});
  claim();
  pass(10s);
  EXPECT_EQ(state_of(id), ExecutionState::expired);
}

TEST_P(Conformance, RenewalDoesNotProlongTheAttempt) {
  const auto id = submit(Submit{.kind = greet, .policy = {.attempt_timeout = lease_ttl * 2}});
  const auto claimed = claim();
  for (int i = 0; i < 3; ++i) {
    pass(lease_ttl / 2);
    must(run(renew(claimed)));
  }
  pass(lease_ttl / 2);
  EXPECT_EQ(state_of(id), ExecutionState::expired);
}

TEST_P(Conformance, AttemptAfterALostOneHasAllItsTime) {
  const auto id = submit(Submit{.kind = greet, .policy = {.attempt_timeout = lease_ttl + 1s}});
  claim("dies");
  pass(lease_ttl);
  EXPECT_EQ(claim("heir").attempt_deadline, now() + lease_ttl + 1s);
  pass(1s);
  EXPECT_EQ(info(id).worker, worker("heir")) << "the first one's time is over, not this one's";
}

TEST_P(Conformance, TimeoutOfAnAttemptThatHasEndedTouchesNothing) {
  const auto id = submit(Submit{
      .kind = greet,
      .policy = {.retry = RetryPolicy{.backoff = FixedBackoff{0ms}}, .attempt_timeout = 10s}});
  const auto first = claim();
  advance(5s);
  must(run(failure(first)));
  const auto second = claim();
  pass(5s);
  EXPECT_EQ(state_of(id), ExecutionState::active);
  must(run(complete(second)));
  pass(1h);
  EXPECT_EQ(state_of(id), ExecutionState::completed);
}

TEST_P(Conformance, WorkerDoesNotSayThatATimeoutWasItsFailure) {
  submit(Submit{.kind = greet, .policy = {.attempt_timeout = 10s}});
  const auto claimed = claim();
  pass(10s);
  EXPECT_EQ(error_of(failure(claimed)), Errc::execution_not_active);
}

// ---- The deadline of the execution ---------------------------------------------------------------

TEST_P(Conformance, DeadlineEndsAnExecutionInEveryState) {
  const auto deadline = now() + 20s;
  const Policy policy{.retry = RetryPolicy{.backoff = FixedBackoff{1h}}};
  const auto one = [&] {
    return submit(Submit{.kind = greet, .deadline = deadline, .policy = policy});
  };
  std::vector<ExecutionId> ids{one()};
  must(run(Grant{.worker = worker("w1"), .grant_ttl = 60s}));  // granted
  ids.push_back(one());
  must(run(delay(claim(), 1h)));  // paused
  ids.push_back(one());
  must(run(failure(claim())));  // in its backoff
  ids.push_back(submit(Submit{.kind = greet, .delay_until = now() + 1h, .deadline = deadline}));
  ids.push_back(one());
  claim();               // active
  ids.push_back(one());  // waiting

  pass(20s - 1ms);
  for (const auto& id : ids) EXPECT_FALSE(is_terminal(state_of(id)));
  pass(1ms);
  for (const auto& id : ids) {
    EXPECT_EQ(state_of(id), ExecutionState::expired);
    EXPECT_EQ(info(id).failure_reason, "execution_deadline");
  }
  pass(1h);
  EXPECT_EQ(claimable(), 0u);
}

TEST_P(Conformance, DeadlineIsNotRetried) {
  const auto id =
      submit(Submit{.kind = greet,
                    .policy = {.retry = RetryPolicy{.max_retries = 9}, .execution_deadline = 10s}});
  const auto claimed = claim();
  EXPECT_EQ(claimed.deadline, now() + 10s);
  pass(10s);
  EXPECT_EQ(state_of(id), ExecutionState::expired);
  EXPECT_EQ(error_of(complete(claimed)), Errc::execution_not_active);
}

TEST_P(Conformance, DeadlineGoesOverAllAttempts) {
  const auto id =
      submit(Submit{.kind = greet,
                    .policy = {.retry = RetryPolicy{.max_retries = 9, .backoff = FixedBackoff{4s}},
                               .execution_deadline = 10s}});
  for (int i = 0; i < 2; ++i) {
    must(run(failure(claim())));
    pass(4s);
  }
  claim();
  pass(2s);
  EXPECT_EQ(state_of(id), ExecutionState::expired);
  EXPECT_EQ(info(id).attempts, 3u);
}

TEST_P(Conformance, DeadlineThatHasPassedAtSubmitExpiresIt) {
  const auto id = submit(Submit{.kind = greet, .deadline = now() - 1h});
  home_->run_scanners();
  EXPECT_EQ(state_of(id), ExecutionState::expired);
}

TEST_P(Conformance, DeadlineOfWhatHasEndedTouchesNothing) {
  const auto id = submit(Submit{.kind = greet, .deadline = now() + 10s});
  must(run(complete(claim())));
  pass(10s);
  EXPECT_EQ(state_of(id), ExecutionState::completed);
}

TEST_P(Conformance, TimeoutsAndDeadlinesAreKeptAcrossARestart) {
  const auto late = submit(Submit{.kind = greet, .policy = {.attempt_timeout = 20s}});
  claim();
  const auto waiting = submit(Submit{.kind = greet, .deadline = now() + 10s});
  home_->restart();
  pass(10s);
  EXPECT_EQ(state_of(waiting), ExecutionState::expired);
  EXPECT_EQ(state_of(late), ExecutionState::active);
  pass(10s);
  EXPECT_EQ(state_of(late), ExecutionState::expired);
}

TEST_P(Conformance, ManyThatAreDueAtOnceAreAllDoneInOneGo) {
  constexpr int count = 1200;
  SubmitMany many;
  for (int i = 0; i < count / 2; ++i)
    many.executions.push_back({.kind = greet, .delay_until = now() + 1s});
  for (int i = 0; i < 2; ++i) must(run(many));
  pass(1s);
  EXPECT_EQ(text(must(run(CountExecutions{}))), fmt::format("default waiting {}", count));
}

// A store that keeps timers elsewhere looks up a thousand of a partition at a time.
TEST_P(Conformance, VeryManyDelaysOfOnePartitionEndAfterARestart) {
  constexpr std::uint16_t count = 1'300;
  SubmitMany many;
  for (std::uint16_t i = 0; i < count; ++i) {
    many.executions.push_back({.id = id_in(7, i),
                               .kind = greet,
                               .delay_until = now() + 10s + Millis{i % 40}});
    if (many.executions.size() == limits::batch_items_max || i + 1 == count)
      must(run(std::exchange(many, SubmitMany{})));
  }
  home_->restart();
  advance(10s + 39ms);
  constexpr int rounds_max = 10;
  for (int i = 0; i < rounds_max; ++i) home_->run_scanners();
  EXPECT_EQ(text(must(run(CountExecutions{}))), "default waiting 1300");
}

}  // namespace
}  // namespace ff::conformance
