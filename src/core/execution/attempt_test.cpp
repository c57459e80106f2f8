#include "core/execution/attempt.hpp"

#include "core/test_support.hpp"

namespace ff::core {
namespace {

std::string show(const LeaseEvent& event) {
  return fmt::format(
      "{} {} attempt {}{}{} {}\n", to_string(event.type), core::show(event.at), event.attempt_index,
      event.worker
          ? fmt::format(" {}#{}", event.worker->str(), std::to_underlying(event.lease_epoch))
          : "",
      event.lease_id ? " " + event.lease_id->str().substr(35) : "", event.reason);
}

std::string history(std::vector<Attempt> former, const Execution& execution) {
  if (execution.attempt) former.push_back(*execution.attempt);
  std::string lines = "\n";
  for (const auto& event : lease_history(execution, former).events) lines += show(event);
  return lines;
}
std::string history(const Execution& execution) { return history({}, execution); }

// ---- Lease history

TEST(LeaseHistory, IsEmptyBeforeTheFirstLease) {
  EXPECT_EQ(history(waiting()), "\n");
  EXPECT_EQ(history(after(apply(waiting(), cancel(), t0))), "\n");
}

TEST(LeaseHistory, HasTheLeaseThatIsHeld) {
  EXPECT_EQ(history(active()), "\nacquired +0 attempt 0 w1#1 1 \n");
}

TEST(LeaseHistory, TellsWhyALeaseWasReleased) {
  const auto released = [](std::string_view reason) {
    return fmt::format("\nacquired +0 attempt 0 w1#1 1 \nreleased +1000 attempt 0 w1#1 1 {}\n",
                       reason);
  };
  EXPECT_EQ(history(completed()), released("completed"));
  EXPECT_EQ(history(failed()), released("failed_terminal"));
  EXPECT_EQ(history(retry_delayed()), released("failed_retry_scheduled"));
  EXPECT_EQ(history(cancelled()), released("cancelled"));
  EXPECT_EQ(history(paused()), released("worker_delay"));
  EXPECT_EQ(history(waiting_children()), released("waiting_children"));
}

TEST(LeaseHistory, TellsWhatTimedOut) {
  const auto expired_by = [](Policy policy, TimerKind kind) {
    return history(after(apply(active(policy), fire(kind), t0 + 1s)));
  };
  const auto released = [](std::string_view reason) {
    return fmt::format("\nacquired +0 attempt 0 w1#1 1 \nreleased +1000 attempt 0 w1#1 1 {}\n",
                       reason);
  };
  EXPECT_EQ(expired_by({.execution_deadline = 1s}, TimerKind::execution_deadline),
            released("expired:execution_deadline"));
  EXPECT_EQ(expired_by({.attempt_timeout = 1s}, TimerKind::attempt_timeout),
            released("expired:attempt_timeout"));
  auto policy = retrying();
  policy.attempt_timeout = 1s;
  EXPECT_EQ(expired_by(policy, TimerKind::attempt_timeout), released("expired:attempt_timeout"));
}

TEST(LeaseHistory, TellsHowALeaseWasLost) {
  EXPECT_EQ(history(lapsed()), R"(
acquired +0 attempt 0 w1#1 1 
expired +1000 attempt 0 w1#1 1 
)");
  EXPECT_EQ(history(after(apply(active(), revoke("stuck"), t0 + 1s))), R"(
acquired +0 attempt 0 w1#1 1 
revoked +1000 attempt 0 w1#1 1 stuck
)");
}

TEST(LeaseHistory, GoesOverAllAttempts) {
  const auto step = must(apply(lapsed(), claim(2), t0 + 2s));
  EXPECT_EQ(history({*step.archive}, *step.next), R"(
acquired +0 attempt 0 w1#1 1 
expired +1000 attempt 0 w1#1 1 
acquired +2000 attempt 1 w2#2 2 
)");
}

TEST(LeaseHistory, GoesOverAllLeasesOfAnAttempt) {
  const auto due = after(apply(paused(), fire(TimerKind::delay), t0 + 60s));
  const auto resumed = after(apply(due, claim(2), t0 + 61s));
  EXPECT_EQ(history(after(apply(resumed, complete(fence(2, 1)), t0 + 62s))), R"(
acquired +0 attempt 0 w1#1 1 
released +1000 attempt 0 w1#1 1 worker_delay
acquired +61000 attempt 0 w2#2 2 
released +62000 attempt 0 w2#2 2 completed
)");
}

TEST(LeaseHistory, TellsOfAReplay) {
  const auto step = must(apply(replayed(), claim(2), t0 + 3s));
  EXPECT_EQ(history({*step.archive}, *step.next), R"(
acquired +0 attempt 0 w1#1 1 
released +1000 attempt 0 w1#1 1 failed_terminal
replay_initiated +2000 attempt 1 again
acquired +3000 attempt 1 w2#2 2 
)");
}

// ---- Archive

TEST(Archive, IsTheFormerAttempt) {
  const auto due = after(apply(retry_delayed(), fire(TimerKind::delay), t0 + 2s));
  for (const auto& execution : {lapsed(), revoked(), due, replayed()}) {
    const auto step = must(apply(execution, claim(2), t0 + 3s));
    EXPECT_EQ(step.archive, execution.attempt);
    EXPECT_EQ(step.next->attempt->index, 1u);
    EXPECT_FALSE(step.next->attempt->end);
    EXPECT_TRUE(step.next->attempt->past_leases.empty());
  }
}

TEST(Archive, OnlyHappensWhenAnotherAttemptBegins) {
  EXPECT_FALSE(must(apply(active(), complete(fence(1)), t0)).archive);
  EXPECT_FALSE(must(apply(completed(), replay(), t0)).archive);
  EXPECT_FALSE(must(apply(active(), revoke(), t0)).archive);
}

// ---- Leases of an attempt

TEST(Attempt, RemembersItsNewestLeasesOnly) {
  auto execution = waiting();
  constexpr std::uint8_t leases = limits::leases_per_attempt_max + 5;
  for (std::uint8_t n = 1; n <= leases; ++n) {
    execution = after(apply(execution, claim(n), t0));
    execution = after(apply(execution, delay(fence(n, 1), t0), t0));
  }
  const auto& past = execution.attempt->past_leases;
  EXPECT_EQ(past.size(), limits::leases_per_attempt_max);
  EXPECT_EQ(past.front().epoch, LeaseEpoch{6});
  EXPECT_EQ(past.back().epoch, LeaseEpoch{leases});
  EXPECT_EQ(execution.attempt_count, 1u);
}

// ---- Info

std::string attempt_info(const Execution& execution) {
  const auto info = info_of(*execution.attempt, std::holds_alternative<Active>(execution.state));
  return fmt::format("{} {} {} {} {}", to_string(info.type), to_string(info.outcome),
                     info.ended_at ? core::show(*info.ended_at) : "-",
                     info.failure_reason.value_or("-"), info.failure_category.value_or("-"));
}

TEST(AttemptInfo, TellsTheOutcome) {
  EXPECT_EQ(attempt_info(active()), "initial running - - -");
  EXPECT_EQ(attempt_info(paused()), "initial paused - - -");
  EXPECT_EQ(attempt_info(waiting_children()), "initial paused - - -");
  EXPECT_EQ(attempt_info(completed()), "initial success +1000 - -");
  EXPECT_EQ(attempt_info(failed()), "initial failure +1000 broke permanent");
  EXPECT_EQ(attempt_info(cancelled()), "initial cancelled +1000 cancelled: why -");
  EXPECT_EQ(attempt_info(lapsed()), "initial interrupted +1000 lease expired -");
  EXPECT_EQ(attempt_info(revoked()), "initial interrupted +1000 lease revoked -");
}

TEST(AttemptInfo, TellsWhereItComesFrom) {
  const auto execution = after(apply(replayed(), claim(2), t0 + 3s));
  const auto info = info_of(*execution.attempt, true);
  EXPECT_EQ(info.index, 1u);
  EXPECT_EQ(info.id, AttemptId{uuid_of(2)});
  EXPECT_EQ(info.type, AttemptType::replay);
  EXPECT_EQ(info.cause, "again");
  EXPECT_EQ(info.requested_by, "ops");
  EXPECT_EQ(info.worker, worker(2));
  EXPECT_EQ(info.started_at, t0 + 3s);
}

TEST(AttemptInfo, TellsWhenTheNextMayBegin) {
  EXPECT_EQ(info_of(*retry_delayed().attempt, false).retry_at, t0 + 2s);
  EXPECT_EQ(info_of(*failed().attempt, false).retry_at, std::nullopt);
}

}  // namespace
}  // namespace ff::core
