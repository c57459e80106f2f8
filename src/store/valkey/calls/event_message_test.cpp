#include "store/valkey/calls/event_message.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::valkey_store {
namespace {

using ::testing::ElementsAre;

std::optional<EventMessage> parse_event(std::string_view text) {
  auto changes = parse_events(text);
  if (changes.empty()) return std::nullopt;
  EXPECT_EQ(changes.size(), 1u);
  return std::move(changes.front());
}

constexpr auto sample =
    "me.1\x1f"
    "claimed\x1f"
    "1800000000001\x1f"
    "{fp:7}:01234567-89ab-cdef-0123-456789abcdef\x1f"
    "acme\x1f"
    "mail\x1f"
    "send\x1f"
    "active\x1f"
    "2\x1f"
    "1\x1f"
    "5\x1f"
    "1800000000000\x1f"
    "cuda,gpu\x1f"
    "lease_expiry\x1f"
    "1800000030000";

TEST(EventMessage, TellsEverything) {
  const auto message = parse_event(sample);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->origin, "me.1");
  const auto& [event, claimable, required, effects, timer, preferred] = message->change;
  EXPECT_EQ(event.type, EventType::claimed);
  EXPECT_EQ(event.at, TimePoint{Millis{1'800'000'000'001}});
  EXPECT_EQ(event.id.partition(), 7);
  EXPECT_EQ(event.ns.str(), "acme");
  EXPECT_EQ(event.lane.str(), "mail");
  EXPECT_EQ(event.kind.str(), "send");
  EXPECT_EQ(event.state, ExecutionState::active);
  EXPECT_EQ(event.attempts, 2u);
  EXPECT_TRUE(claimable);
  EXPECT_EQ(required.csv(), "cuda,gpu");
  EXPECT_EQ(timer,
            (core::Timer{core::TimerKind::lease_expiry, TimePoint{Millis{1'800'000'030'000}}}));
  EXPECT_TRUE(effects.empty());
  EXPECT_FALSE(preferred);
  EXPECT_EQ(message->indexed.ready.priority, 5);
  EXPECT_EQ(message->indexed.ready.queued_at, TimePoint{Millis{1'800'000'000'000}});
}

constexpr auto budget_a = "aaaaaaaa-0000-4000-8000-000000000000";
constexpr auto budget_b = "bbbbbbbb-0000-4000-8000-000000000000";
constexpr auto quota = "cccccccc-0000-4000-8000-000000000000";
constexpr auto token = "dddddddd-0000-4000-8000-000000000000";

TEST(EventMessage, TellsOfBudgetsAndQuotaIfThereAreAny) {
  const auto message = parse_event(
      fmt::format("{}\x1f{},{}\x1f{}\x1f{}\x1f{}", sample, budget_b, budget_a, quota, token, 1));
  ASSERT_TRUE(message);
  const auto& needs = message->indexed.ready.needs;
  EXPECT_EQ(needs.capabilities.csv(), "cuda,gpu");
  EXPECT_EQ(needs.budgets, (std::vector{*BudgetId::parse(budget_a), *BudgetId::parse(budget_b)}));
  EXPECT_EQ(needs.quota, *QuotaId::parse(quota));
  EXPECT_THAT(message->change.effects,
              ElementsAre(core::ReleaseToken{*QuotaId::parse(quota), *QuotaTokenId::parse(token)}));
}

TEST(EventMessage, TellsWhoseShareItIs) {
  const auto message =
      parse_event(fmt::format("{}\x1f\x1f\x1f\x1f"
                              "0 1\x1f\x1f"
                              "3 acme",
                              sample));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->indexed.ready.needs.share,
            (core::FairShare{.key = *FairnessKey::parse("acme"), .weight = 3}));
  EXPECT_FALSE(parse_event(sample)->indexed.ready.needs.share);
}

TEST(EventMessage, NeedsAreCountedByTheirShareToo) {
  const auto needs = needs_in("gpu\x1f\x1f\x1f"
                              "3 acme");
  EXPECT_EQ(needs.capabilities.csv(), "gpu");
  EXPECT_EQ(needs.share, (core::FairShare{.key = *FairnessKey::parse("acme"), .weight = 3}));
  EXPECT_EQ(needs_in(fmt::format("gpu\x1f{}\x1f{}", budget_a, quota)).quota, *QuotaId::parse(quota));
}

TEST(EventMessage, OfARemovalForgetsItsSpending) {
  std::string removed = sample;
  removed.replace(removed.find("claimed"), std::string_view("claimed").size(), "removed");
  const auto message =
      parse_event(fmt::format("{}\x1f{}\x1f\x1f\x1f"
                              "0",
                              removed, budget_a));
  ASSERT_TRUE(message);
  EXPECT_THAT(message->change.effects, ElementsAre(core::ForgetSpending{*BudgetId::parse(budget_a),
                                                                        message->change.event.id}));
}

TEST(EventMessage, PartsOfANewerVersionArePassedOver) {
  const auto message =
      parse_event(fmt::format("{}\x1f{}\x1f{}\x1f{}\x1f"
                              "0\x1f"
                              "new\x1fmore",
                              sample, budget_a, quota, token));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->indexed.ready.needs.quota, *QuotaId::parse(quota));
}

TEST(EventMessage, TellsTheVersionOfAChange) {
  const auto with = [](std::string_view last) {
    return parse_event(fmt::format("{}\x1f\x1f\x1f\x1f{}", sample, last));
  };
  EXPECT_EQ(with("0 7")->version, 7u);
  EXPECT_EQ(with("0")->version, std::nullopt) << "of an older program";
  EXPECT_EQ(parse_event(sample)->version, std::nullopt);
  std::string made = sample;
  made.replace(made.find("claimed"), std::string_view("claimed").size(), "submitted");
  EXPECT_EQ(parse_event(made + "\x1f\x1f\x1f\x1f"
                               "0 0")
                ->version,
            std::nullopt)
      << "a new execution may have the id of a removed one";
}

TEST(EventMessage, MalformedMessageIsIgnored) {
  EXPECT_FALSE(parse_event(""));
  EXPECT_FALSE(parse_event("hello"));
  EXPECT_FALSE(parse_event(std::string(14, '\x1f')));
}

TEST(EventMessage, TimersHaveTheirNames) {
  for (const auto kind :
       {core::TimerKind::lease_expiry, core::TimerKind::delay, core::TimerKind::attempt_timeout,
        core::TimerKind::execution_deadline, core::TimerKind::grant_expiry,
        core::TimerKind::suspension_timeout, core::TimerKind::waitpoint_expiry})
    EXPECT_EQ(timer_kind_from(name_of(kind)), kind);
  EXPECT_FALSE(timer_kind_from("midnight"));
}

TEST(EventMessage, TellsOfSeveralChangesAndLeavesOutWhatItDoesNotKnow) {
  const auto of_later = "me.1\x1fsomething of a later version";
  const auto changes = parse_events(fmt::format("{0}\x1d{1}\x1d{0}", sample, of_later));
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[1].change.event.type, EventType::claimed);
}

constexpr auto flow_text = "cccccccc-0000-4000-8000-000000000000";

TEST(EventMessage, NamesTheFlowOfANode) {
  const auto message = parse_event(fmt::format("{}\x1f\x1f\x1f\x1f" "0 3\x1f{}", sample, flow_text));
  ASSERT_TRUE(message);
  ASSERT_TRUE(message->change.event.flow);
  EXPECT_EQ(message->change.event.flow->str(), flow_text);
  EXPECT_EQ(message->version, 3u);
}

TEST(EventMessage, OfAFlowHasNoLane) {
  const auto message = parse_event(fmt::format(
      "me.1\x1f" "flow_submitted\x1f" "5\x1f" "{{fp:7}}:{}\x1f" "acme\x1f\x1f" "etl\x1f" "active\x1f"
      "0\x1f" "0\x1f" "0\x1f" "5\x1f\x1f" "flow_deadline\x1f" "9\x1f\x1f\x1f\x1f" "0 1\x1f{}",
      flow_text, flow_text));
  ASSERT_TRUE(message);
  EXPECT_EQ(message->change.event.type, EventType::flow_submitted);
  EXPECT_EQ(message->change.event.lane, LaneId{});
  EXPECT_EQ(message->change.timer,
            (core::Timer{core::TimerKind::flow_deadline, TimePoint{Millis{9}}}));
  EXPECT_FALSE(message->version);
}

TEST(EventMessage, EffectsOfAFlowAreNoEvent) {
  const auto message = parse_event(fmt::format(
      "me.1\x1f" "effects\x1f" "5\x1f" "{{fp:7}}:{0}\x1f" "advance_flow {0}\x1e" "resolve_edges {{fp:7}}:{0} 1",
      flow_text));
  ASSERT_TRUE(message);
  EXPECT_FALSE(message->is_event);
  EXPECT_EQ(message->change.effects.size(), 2u);
}

}  // namespace
}  // namespace ff::valkey_store
