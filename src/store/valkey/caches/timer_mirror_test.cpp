#include "store/valkey/caches/timer_mirror.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/values.hpp"

namespace ff::valkey_store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using test::t0;
constexpr auto delay = core::TimerKind::delay;

ExecutionId id(std::uint8_t number) {
  Uuid::Bytes bytes{};
  bytes[15] = number;
  return {0, Uuid{bytes}};
}

core::Timer after(Millis::rep ms) { return {.kind = delay, .due = t0 + Millis{ms}}; }

TEST(TimerMirror, TellsWhatIsDueAndWhatIsNext) {
  TimerMirror mirror;
  mirror.looked_up(t0 + Millis{1000});
  mirror.put(id(1), after(2));
  mirror.put(id(2), after(1));
  mirror.put(id(3), after(9));
  const auto due = mirror.due({.kind = delay, .max = 10}, t0 + Millis{2});
  EXPECT_THAT(due.due, ElementsAre(id(2), id(1)));
  EXPECT_EQ(due.next, t0 + Millis{9});
  EXPECT_THAT(mirror.due({.kind = core::TimerKind::lease_expiry, .max = 10}, t0 + Millis{9}).due,
              IsEmpty());
}

TEST(TimerMirror, TellsTheFirstOfEachKind) {
  TimerMirror mirror;
  mirror.looked_up(t0 + Millis{1000});
  mirror.put(id(1), after(5));
  mirror.put(id(2), after(3));
  EXPECT_THAT(mirror.first_of_each(), ElementsAre(after(3)));
}

TEST(TimerMirror, LateKnowledgeDoesNotEraseNewer) {
  TimerMirror mirror;
  mirror.looked_up(t0 + Millis{1000});
  mirror.put(id(1), after(2), 5);
  mirror.put(id(1), std::nullopt, 4);
  EXPECT_THAT(mirror.due({.kind = delay, .max = 10}, t0 + Millis{2}).due, ElementsAre(id(1)));
  mirror.put(id(1), std::nullopt, 6);
  EXPECT_THAT(mirror.due({.kind = delay, .max = 10}, t0 + Millis{2}).due, IsEmpty());
}

TEST(TimerMirror, LateKnowledgeDoesNotEraseWhatALookMadeEarlier) {
  TimerMirror mirror;
  mirror.looked_up(t0 + Millis{1000});
  mirror.put(id(1), after(9), 5);
  mirror.put_earliest(id(1), after(2));
  mirror.put(id(1), std::nullopt, 4);
  EXPECT_THAT(mirror.due({.kind = delay, .max = 10}, t0 + Millis{2}).due, ElementsAre(id(1)));
  mirror.put(id(1), after(9), 5);
  EXPECT_EQ(mirror.due({.kind = delay, .max = 10}, t0 + Millis{2}).next, t0 + Millis{9});
}

TEST(TimerMirror, KnowsOneTimerOfEach) {
  TimerMirror mirror;
  mirror.looked_up(t0 + Millis{1000});
  mirror.put(id(1), after(1));
  mirror.put(id(1), after(5));
  EXPECT_THAT(mirror.due({.kind = delay, .max = 10}, t0 + Millis{4}).due, IsEmpty());
  mirror.put(id(1), std::nullopt);
  EXPECT_THAT(mirror.due({.kind = delay, .max = 10}, t0 + Millis{9}).due, IsEmpty());
}

TEST(TimerMirror, LeavesTheFarFutureToTheNextLook) {
  TimerMirror mirror;
  mirror.looked_up(t0 + Millis{10});
  mirror.put(id(1), after(11));
  const auto due = mirror.due({.kind = delay, .max = 10}, t0 + Millis{20});
  EXPECT_THAT(due.due, IsEmpty());
  EXPECT_FALSE(due.next);
}

}  // namespace
}  // namespace ff::valkey_store
