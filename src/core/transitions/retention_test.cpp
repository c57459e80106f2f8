#include "core/test_support.hpp"

namespace ff::core {
namespace {

const Remove remove_it{test_id()};

// Ended at +1000, or with a key that is remembered for `window`.
Execution kept_for(Millis retention, std::optional<Millis> window = {}) {
  auto command = create({.retention = retention});
  if (window) {
    command.submit.idempotency_key = *IdempotencyKey::parse("key");
    command.submit.policy.dedup_window = *window;
  }
  return after(apply(after(apply(nullptr, command, t0)), cancel(), t0 + 1s));
}

TEST(Retention, CountsFromTheEnd) {
  EXPECT_EQ(retained_until(kept_for(1h)), t0 + 1s + 1h);
  EXPECT_EQ(retained_until(completed()), t0 + 1s + limits::retention_default);
  EXPECT_EQ(retained_until(kept_for(0ms)), t0 + 1s);
}

TEST(Retention, IsNeverShorterThanTheIdempotencyWindow) {
  EXPECT_EQ(idempotency_until(kept_for(1h, 5h)), t0 + 5h);
  EXPECT_EQ(retained_until(kept_for(1h, 5h)), t0 + 5h);
  EXPECT_EQ(retained_until(kept_for(5h, 1h)), t0 + 1s + 5h);
}

TEST(Retention, WithoutAKeyHasNoWindow) { EXPECT_EQ(idempotency_until(kept_for(1h)), t0); }

TEST(Retention, HasNoEndBeforeTheExecutionHas) {
  for (const auto& execution : {waiting(), granted(), delayed(), waiting_children(), active(),
                                lapsed(), revoked(), replayed()})
    EXPECT_EQ(retained_until(execution), limits::time_max);
}

TEST(Remove, ForgetsOnlyWhatNeedNotBeKept) {
  const auto removed = [](const Execution& execution, TimePoint now) {
    const auto step = must(apply(execution, remove_it, now));
    EXPECT_EQ(step.remove, step.reply.removed);
    EXPECT_EQ(step.event.has_value(), step.reply.removed);
    return step.reply.removed;
  };
  EXPECT_FALSE(removed(kept_for(1h), t0 + 1s + 1h - 1ms));
  EXPECT_TRUE(removed(kept_for(1h), t0 + 1s + 1h));
  EXPECT_FALSE(removed(kept_for(1h, 5h), t0 + 5h - 1ms));
  EXPECT_TRUE(removed(kept_for(1h, 5h), t0 + 5h));
}

TEST(Remove, TellsWhatItForgot) {
  EXPECT_EQ(trace(kept_for(0ms), remove_it, t0 + 2s),
            "cancelled(+1000, why) -> cancelled(+1000, why) [removed]");
}

TEST(Remove, NeverTouchesWhatHasNotEnded) {
  for (const auto& execution : {waiting(), granted(), delayed(), waiting_children(), active(),
                                lapsed(), revoked(), replayed()})
    EXPECT_EQ(trace(execution, remove_it, t0 + std::chrono::years{1}),
              show(execution) + ": unchanged");
}

TEST(Remove, NeverTouchesWhatIsReplayed) {
  const auto again = after(apply(kept_for(0ms), replay(), t0 + 2s));
  EXPECT_EQ(trace(again, remove_it, t0 + 1h), "waiting(replay): unchanged");
}

}  // namespace
}  // namespace ff::core
