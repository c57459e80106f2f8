#include "core/test_support.hpp"

namespace ff::core {
namespace {

TEST(Replay, RunsWhatHasEndedOnceMore) {
  EXPECT_EQ(in_every_state(replay()), R"(
waiting: execution_not_terminal
granted(w1 until +60000): execution_not_terminal
delayed(until +60000): execution_not_terminal
waiting_children: execution_not_terminal
active(w1#1 until +30000): execution_not_terminal
waiting(reclaim): execution_not_terminal
waiting(reclaim): execution_not_terminal
completed(+1000) -> waiting(replay) [replayed]
failed(+1000, broke, permanent) -> waiting(replay) [replayed]
cancelled(+1000, why) -> waiting(replay) [replayed]
expired(+1000, execution_deadline) -> waiting(replay) [replayed]
)");
  EXPECT_EQ(must(apply(completed(), replay(), t0)).reply, EndReply{ExecutionState::waiting});
}

TEST(Replay, BeforeTheEndTellsTheState) {
  EXPECT_EQ(detail(apply(active(), replay(), t0).error(), "state"), "active");
}

TEST(Replay, HappensAsOftenAsAllowed) {
  auto execution = failed({.max_replay_count = 2});
  for (int n = 0; n < 2; ++n) {
    execution = after(apply(execution, replay(), t0 + 2s));
    execution = after(apply(execution, cancel(), t0 + 3s));
  }
  EXPECT_EQ(execution.replay_count, 2u);
  const auto error = apply(execution, replay(), t0 + 4s).error();
  EXPECT_EQ(error.code, Errc::max_replays_exhausted);
  EXPECT_EQ(detail(error, "max"), "2");
  EXPECT_EQ(verdict(apply(failed({.max_replay_count = 0}), replay(), t0)), "max_replays_exhausted");
}

TEST(Replay, IsAllowedTenTimesUnlessToldOtherwise) {
  auto execution = failed();
  execution.replay_count = 9;
  EXPECT_EQ(verdict(apply(execution, replay(), t0)), "ok");
  execution.replay_count = 10;
  EXPECT_EQ(verdict(apply(execution, replay(), t0)), "max_replays_exhausted");
}

TEST(Replay, HasItsRetriesAndReclaimsAgain) {
  auto execution = failed();
  execution.retry_count = 3;
  execution.reclaim_count = 4;
  const auto again = after(apply(execution, replay(), t0 + 2s));
  EXPECT_EQ(again.retry_count, 0u);
  EXPECT_EQ(again.reclaim_count, 0u);
  EXPECT_EQ(again.replay_count, 1u);
}

TEST(Replay, QueuesBehindWhatWaitsAlready) {
  EXPECT_EQ(replayed().queued_at, t0 + 2s);
  EXPECT_EQ(replayed().created_at, t0);
}

TEST(Replay, HasAsMuchTimeAsTheFirstRun) {
  auto execution = failed({.execution_deadline = 1h});
  execution = after(apply(execution, replay(), t0 + 5h));
  EXPECT_EQ(execution.deadline, t0 + 6h);
  execution = after(apply(execution, cancel(), t0 + 5h));
  EXPECT_EQ(after(apply(execution, replay(), t0 + 9h)).deadline, t0 + 10h);
  EXPECT_EQ(replayed().deadline, std::nullopt);
}

TEST(Replay, DropsTheResult) {
  EXPECT_TRUE(must(apply(completed(), replay(), t0 + 2s)).drop_result);
}

TEST(Replay, IsRecordedInItsAttempt) {
  const auto step = must(apply(replayed(), claim(2), t0 + 3s));
  EXPECT_EQ(step.reply.attempt_type, AttemptType::replay);
  EXPECT_EQ(step.reply.attempt_index, 1u);
  EXPECT_EQ(step.reply.fence, fence(2));
  EXPECT_EQ(step.next->attempt->cause, "again");
  EXPECT_EQ(step.next->attempt->requested_by, "ops");
  EXPECT_EQ(step.next->attempt->requested_at, t0 + 2s);
  EXPECT_FALSE(step.next->pending_replay);
}

TEST(Replay, OfWhatNeverRanBeginsWithIndexZero) {
  const auto again = after(apply(expired(), replay(), t0 + 2s));
  const auto step = must(apply(again, claim(1), t0 + 2s));
  EXPECT_EQ(step.reply.attempt_index, 0u);
  EXPECT_EQ(step.reply.attempt_type, AttemptType::replay);
  EXPECT_FALSE(step.archive);
}

TEST(Replay, CanFailAndRetryLikeAnyRun) {
  const auto again = after(apply(failed(retrying()), replay(), t0 + 2s));
  const auto running = after(apply(again, claim(2), t0 + 3s));
  EXPECT_EQ(trace(running, fail_with(fence(2)), t0 + 4s),
            "active(w2#2 until +33000) -> delayed(until +5000) [retry_scheduled]");
}

}  // namespace
}  // namespace ff::core
