#include "core/test_support.hpp"

namespace ff::core {
namespace {

ChangePriority priority(std::int32_t value) { return {.id = test_id(), .priority = value}; }

Tags many_tags(std::size_t count) {
  Tags tags;
  for (std::size_t i = 0; i < count; ++i) tags[fmt::format("app.{}", i)] = "v";
  return tags;
}

// ---- Priority

TEST(Priority, ChangesInEveryStateBeforeTheEnd) {
  EXPECT_EQ(in_every_state(priority(5)), R"(
waiting -> waiting [priority_changed]
granted(w1 until +60000) -> granted(w1 until +60000) [priority_changed]
delayed(until +60000) -> delayed(until +60000) [priority_changed]
waiting_children -> waiting_children [priority_changed]
active(w1#1 until +30000) -> active(w1#1 until +30000) [priority_changed]
waiting(reclaim) -> waiting(reclaim) [priority_changed]
waiting(reclaim) -> waiting(reclaim) [priority_changed]
completed(+1000): execution_not_eligible
failed(+1000, broke, permanent): execution_not_eligible
cancelled(+1000, why): execution_not_eligible
expired(+1000, execution_deadline): execution_not_eligible
)");
}

TEST(Priority, TellsTheFormerOne) {
  const auto step = must(apply(waiting(), priority(5), t0));
  EXPECT_EQ(step.reply, (PriorityReply{.before = 0, .after = 5}));
  EXPECT_EQ(step.next->priority, 5);
  EXPECT_EQ(step.next->queued_at, t0);
}

TEST(Priority, AnEqualPriorityChangesNothing) {
  const auto step = must(apply(waiting(), priority(0), t0));
  EXPECT_EQ(step.reply, (PriorityReply{.before = 0, .after = 0}));
  EXPECT_FALSE(step.next);
}

// The contract's own numbers.
TEST(ReadyScore, FollowsTheContract) {
  EXPECT_EQ(ready_score(0, TimePoint{Millis{1794765390093}}), 1794765390093);
  EXPECT_EQ(ready_score(5, TimePoint{Millis{1794765390093}}), -3205234609907);
  EXPECT_EQ(ready_score(9000, TimePoint{Millis{1794765435074}}), -8998205234564926);
}

TEST(ReadyScore, PutsPriorityBeforeAge) {
  EXPECT_LT(ready_score(1, t0 + std::chrono::years{30}), ready_score(0, t0));
  EXPECT_LT(ready_score(1, t0), ready_score(1, t0 + 1ms));
}

// ---- Tags

TEST(Tags, ChangeInEveryState) {
  const SetTags command{.id = test_id(), .set = {{"app.k", "v"}}};
  for (const auto& execution : {waiting(), granted(), delayed(), waiting_children(), active(),
                                lapsed(), revoked(), completed(), failed(), cancelled(), expired()})
    EXPECT_EQ(trace(execution, command, t0 + 2s),
              fmt::format("{0} -> {0} [tags_changed]", show(execution)));
}

TEST(Tags, AreSetReplacedAndRemoved) {
  auto execution = waiting();
  execution.tags = {{"app.a", "1"}, {"app.b", "2"}, {"app.c", "3"}};
  const auto step = must(apply(
      execution,
      SetTags{
          .id = test_id(), .set = {{"app.b", "9"}, {"app.d", "4"}}, .remove = {"app.a", "app.x"}},
      t0));
  const Tags expected{{"app.b", "9"}, {"app.c", "3"}, {"app.d", "4"}};
  EXPECT_EQ(step.reply.tags, expected);
  EXPECT_EQ(step.next->tags, expected);
}

TEST(Tags, EqualTagsChangeNothing) {
  auto execution = waiting();
  execution.tags = {{"app.a", "1"}};
  const auto step = must(
      apply(execution, SetTags{.id = test_id(), .set = {{"app.a", "1"}}, .remove = {"app.x"}}, t0));
  EXPECT_EQ(step.reply.tags, execution.tags);
  EXPECT_FALSE(step.next);
}

TEST(Tags, AreLimitedAltogether) {
  auto execution = waiting();
  execution.tags = many_tags(limits::tags_max);
  SetTags command{.id = test_id(), .set = {{"app.0", "other"}}};
  EXPECT_EQ(verdict(apply(execution, command, t0)), "ok");
  command.set = {{"app.new", "v"}};
  EXPECT_EQ(verdict(apply(execution, command, t0)), "invalid_input");
  command.remove = {"app.0"};
  EXPECT_EQ(verdict(apply(execution, command, t0)), "ok");
}

}  // namespace
}  // namespace ff::core
