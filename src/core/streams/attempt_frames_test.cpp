#include "core/streams/attempt_frames.hpp"

#include "core/suspensions/memory_view.hpp"
#include "core/test_support.hpp"

namespace ff::core {
namespace {

std::string closing(const Execution& execution, std::uint32_t index = 0,
                    std::vector<Attempt> attempts = {}) {
  if (execution.attempt) attempts.push_back(*execution.attempt);
  const auto closing = closing_of(execution, attempts, index);
  return closing ? fmt::format("{} {}", show(closing->at), closing->reason) : "open";
}

TEST(AttemptStream, IsOpenWhileItsAttemptMayWrite) {
  EXPECT_EQ(closing(waiting()), "open");
  EXPECT_EQ(closing(active()), "open");
  EXPECT_EQ(closing(paused()), "open");
  EXPECT_EQ(closing(waiting_children()), "open");
  EXPECT_EQ(closing(active(), 1), "open");
}

TEST(AttemptStream, IsClosedInTheWordsOfTheContract) {
  EXPECT_EQ(closing(completed()), "+1000 attempt_success");
  EXPECT_EQ(closing(failed()), "+1000 attempt_failure");
  EXPECT_EQ(closing(retry_delayed()), "+1000 attempt_failure");
  EXPECT_EQ(closing(cancelled()), "+1000 attempt_cancelled");
  EXPECT_EQ(closing(lapsed()), "+1000 lease_expired");
  EXPECT_EQ(closing(after(apply(active(), revoke("stuck"), t0 + 1s))), "+1000 lease_revoked");
  const auto expired = [](Policy policy, TimerKind kind) {
    return closing(after(apply(active(policy), fire(kind), t0 + 1s)));
  };
  EXPECT_EQ(expired({.execution_deadline = 1s}, TimerKind::execution_deadline), "+1000 expired");
  EXPECT_EQ(expired({.attempt_timeout = 1s}, TimerKind::attempt_timeout), "+1000 expired");
  auto policy = retrying();
  policy.attempt_timeout = 1s;
  EXPECT_EQ(expired(policy, TimerKind::attempt_timeout), "+1000 expired");
}

TEST(AttemptStream, IsClosedWithItsExecutionEvenIfItNeverBegan) {
  EXPECT_EQ(closing(after(apply(waiting(), cancel(), t0))), "+0 attempt_cancelled");
  EXPECT_EQ(closing(completed(), 1), "+1000 attempt_success");
  EXPECT_EQ(closing(failed(), 7), "+1000 attempt_failure");
}

TEST(AttemptStream, OfALostAttemptIsReclaimedByTheNext) {
  auto next = *active().attempt;
  next.index = 1;
  next.started_at = t0 + 5s;
  const auto lost = lapsed();
  next.type = AttemptType::reclaim;
  EXPECT_EQ(closing_of(lost, std::vector{*lost.attempt, next}, 0)->reason, "reclaimed");
  EXPECT_EQ(closing_of(lost, std::vector{*lost.attempt, next}, 0)->at, t0 + 5s);
  next.type = AttemptType::replay;
  EXPECT_EQ(closing_of(lost, std::vector{*lost.attempt, next}, 0)->reason, "lease_expired");
}

TEST(AttemptStream, HasIdsThatGrowAlthoughTheClockGoesBack) {
  MemoryView view(active());
  const auto append = [&](std::uint64_t written, TimePoint at) {
    AppendFrames command{.id = view.execution().id,
                         .fence = view.execution().attempt->fence,
                         .written = written,
                         .frames = {NewFrame{}}};
    ASSERT_TRUE(view.run(command, at));
  };
  append(0, t0 + 2s);
  append(1, t0 + 1s);
  EXPECT_EQ(must(view.find_streams(view.execution())).all.at(0).last_at, t0 + 2s);
}

TEST(AttemptStream, ShowsTheFramesBetweenTwoIds) {
  const Append append{.place = {0, 5}, .at = t0, .frames = {{}, {}, {}}};
  const auto ids = [&](std::uint64_t first, std::uint64_t last, std::uint32_t limit) {
    AttemptFrames page;
    const bool more = add_to(page, append, id_of(append, first), id_of(append, last), limit);
    std::string text;
    for (const auto& frame : page.frames) text += std::to_string(frame.id.first().seq) + " ";
    return text + (more ? "…" : "");
  };
  EXPECT_EQ(ids(0, 9, 9), "2 3 4 …");
  EXPECT_EQ(ids(3, 3, 9), "3 ");
  EXPECT_EQ(ids(0, 9, 2), "2 3 ");
}

}  // namespace
}  // namespace ff::core
