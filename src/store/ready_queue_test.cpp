#include "store/ready_queue.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/values.hpp"

namespace ff::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using test::t0;

// The higher its number, the newer it is.
Ready ready(std::uint8_t number, std::int32_t priority = 0, const char* lane = "default") {
  Uuid::Bytes bytes{};
  bytes[15] = number;
  return {.id = ExecutionId{number, Uuid{bytes}},
          .ns = default_namespace(),
          .lane = *LaneId::parse(lane),
          .priority = priority,
          .queued_at = t0 + Millis{number}};
}

Ready requiring(std::vector<std::string> tokens, Ready execution) {
  execution.needs.capabilities = *CapabilitySet::parse(std::move(tokens));
  return execution;
}

Kind kind(const char* name) { return *Kind::parse(name); }
Ready of_kind(const char* name, Ready execution) {
  execution.kind = kind(name);
  return execution;
}

BudgetId budget(std::uint8_t number) { return BudgetId{ready(number).id.uuid()}; }
QuotaId quota(std::uint8_t number) { return QuotaId{ready(number).id.uuid()}; }

Ready spending(std::vector<BudgetId> budgets, Ready execution) {
  execution.needs.budgets = std::move(budgets);
  return execution;
}
Ready under(QuotaId quota, Ready execution) {
  execution.needs.quota = quota;
  return execution;
}
Ready of_key(const char* key, Ready execution, std::uint32_t weight = 1) {
  execution.needs.share = core::FairShare{.key = *FairnessKey::parse(key), .weight = weight};
  return execution;
}
struct Worker {
  std::vector<const char*> lanes = {"default"};
  std::vector<std::string> capabilities = {};
  const char* ns = "default";
  Closed closed = {};
  std::vector<Kind> kinds = {};
};

std::vector<int> take(ReadyQueue& queue, std::size_t max, const Worker& worker = {}) {
  TakeReady query{.ns = *Namespace::parse(worker.ns),
                  .lanes = {},
                  .capabilities = *CapabilitySet::parse(worker.capabilities),
                  .kinds = worker.kinds,
                  .max = max,
                  .closed = worker.closed};
  for (const char* lane : worker.lanes) query.lanes.push_back(*LaneId::parse(lane));
  std::vector<int> numbers;
  for (const auto& each : queue.take(query)) numbers.push_back(each.id.partition());
  return numbers;
}

std::vector<int> numbers_of(const std::vector<ExecutionId>& ids) {
  std::vector<int> numbers;
  for (const auto& id : ids) numbers.push_back(id.partition());
  return numbers;
}

class ReadyQueueTest : public ::testing::Test {
 protected:
  void add(std::initializer_list<Ready> executions) {
    for (const auto& execution : executions) queue_.add(execution);
  }
  ReadyQueue queue_;
};

TEST_F(ReadyQueueTest, GivesTheHighestPriorityFirstThenTheOldest) {
  add({ready(2), ready(1), ready(4, 5), ready(3, 5), ready(5, 9000)});
  EXPECT_THAT(take(queue_, 10), ElementsAre(5, 3, 4, 1, 2));
}

TEST_F(ReadyQueueTest, GivesNoMoreThanAskedFor) {
  add({ready(1), ready(2), ready(3)});
  EXPECT_THAT(take(queue_, 2), ElementsAre(1, 2));
  EXPECT_THAT(take(queue_, 0), IsEmpty());
  EXPECT_THAT(take(queue_, 2), ElementsAre(3));
}

TEST_F(ReadyQueueTest, MergesTheLanesThatAreAskedFor) {
  add({ready(1, 0, "a"), ready(2, 7, "b"), ready(3, 9, "c"), ready(4, 0, "b")});
  EXPECT_THAT(take(queue_, 10, {.lanes = {"a", "b", "a"}}), ElementsAre(2, 1, 4));
  EXPECT_THAT(take(queue_, 10, {.lanes = {"d"}}), IsEmpty());
  EXPECT_THAT(take(queue_, 10, {.lanes = {"c"}}), ElementsAre(3));
}

TEST_F(ReadyQueueTest, PassesOverWhatTheWorkerCannotRun) {
  add({requiring({"gpu"}, ready(1, 9)), ready(2), requiring({"gpu", "eu"}, ready(3, 5)),
       requiring({"eu"}, ready(4, 7))});
  EXPECT_THAT(take(queue_, 10, {.capabilities = {"eu"}}), ElementsAre(4, 2));
  EXPECT_THAT(take(queue_, 10), IsEmpty());
  EXPECT_THAT(take(queue_, 10, {.capabilities = {"eu", "gpu", "more"}}), ElementsAre(1, 3));
}

TEST_F(ReadyQueueTest, OrdersOverLanesAndRequirementsAlike) {
  add({requiring({"gpu"}, ready(1, 1, "a")), ready(2, 2, "a"), requiring({"gpu"}, ready(3, 3, "b")),
       ready(4, 1, "b"), requiring({"eu"}, ready(5, 2, "b"))});
  EXPECT_THAT(take(queue_, 10, {.lanes = {"b", "a"}, .capabilities = {"eu", "gpu"}}),
              ElementsAre(3, 2, 5, 1, 4));
}

TEST_F(ReadyQueueTest, GivesOnlyTheKindsThatAreAskedFor) {
  add({of_kind("a", ready(1)), of_kind("b", ready(2, 9)), of_kind("c", ready(3)),
       requiring({"gpu"}, of_kind("a", ready(4, 5)))});
  EXPECT_THAT(take(queue_, 10, {.kinds = {kind("d")}}), IsEmpty());
  EXPECT_THAT(take(queue_, 10, {.kinds = {kind("a"), kind("c"), kind("d")}}), ElementsAre(1, 3));
  EXPECT_THAT(take(queue_, 10, {.capabilities = {"gpu"}, .kinds = {kind("a")}}), ElementsAre(4));
  EXPECT_THAT(take(queue_, 10), ElementsAre(2));
}

TEST_F(ReadyQueueTest, OrdersOverKindsIfNoneIsNamed) {
  add({of_kind("b", ready(1)), of_kind("a", ready(2)), of_kind("b", ready(3, 5)),
       of_kind("c", ready(4, 5))});
  EXPECT_THAT(take(queue_, 10), ElementsAre(3, 4, 1, 2));
}

TEST_F(ReadyQueueTest, TellsWhetherItOffersAKind) {
  add({of_kind("a", ready(1))});
  TakeReady query{
      .ns = default_namespace(), .lanes = {default_lane()}, .capabilities = {}, .max = 1};
  EXPECT_TRUE(queue_.offers(query));
  query.kinds = {kind("b")};
  EXPECT_FALSE(queue_.offers(query));
  query.kinds = {kind("a")};
  EXPECT_TRUE(queue_.offers(query));
  take(queue_, 1);
  EXPECT_FALSE(queue_.offers(query));
}

TEST_F(ReadyQueueTest, RemovesFromTheGroupOfTheKind) {
  add({of_kind("a", ready(1)), of_kind("b", ready(2))});
  queue_.remove(of_kind("a", ready(1)));
  EXPECT_FALSE(queue_.has(of_kind("a", ready(1))));
  EXPECT_TRUE(queue_.has(of_kind("b", ready(2))));
  EXPECT_THAT(take(queue_, 10), ElementsAre(2));
}

TEST_F(ReadyQueueTest, KeepsTenantsApart) {
  add({ready(1)});
  EXPECT_THAT(take(queue_, 10, {.ns = "other"}), IsEmpty());
  EXPECT_THAT(take(queue_, 10), ElementsAre(1));
}

TEST_F(ReadyQueueTest, EverySoOftenGivesTheOldest) {
  add({ready(1, 0), ready(2, 1)});
  for (std::uint8_t number = 3; number < 60; ++number) add({ready(number, 9)});
  const auto taken = take(queue_, 48);
  ASSERT_EQ(taken.size(), 48u);
  constexpr auto every = limits::oldest_first_every;
  EXPECT_EQ(taken[every - 1], 1);
  EXPECT_EQ(taken[2 * every - 1], 2);
  EXPECT_EQ(std::ranges::count_if(taken, [](int number) { return number < 3; }), 2);
}

TEST_F(ReadyQueueTest, CountsTowardsTheOldestOverSeveralCalls) {
  add({ready(1, 0)});
  for (std::uint8_t number = 2; number < 40; ++number) add({ready(number, 9)});
  std::vector<int> taken;
  for (std::uint32_t call = 0; call < limits::oldest_first_every; ++call)
    taken.push_back(take(queue_, 1).at(0));
  EXPECT_EQ(taken.back(), 1);
}

TEST_F(ReadyQueueTest, GivesTheOldestOfAllTheLanesThatAreAskedFor) {
  add({ready(1, 0, "quiet"), ready(2, 0, "busy")});
  for (std::uint8_t number = 3; number < 40; ++number) add({ready(number, 9, "busy")});
  const auto taken = take(queue_, limits::oldest_first_every, {.lanes = {"busy", "quiet"}});
  EXPECT_EQ(taken.back(), 1);
}

TEST_F(ReadyQueueTest, DoesNotOfferWhatIsTakenUntilItIsPutBack) {
  add({ready(1)});
  EXPECT_THAT(take(queue_, 1), ElementsAre(1));
  EXPECT_THAT(take(queue_, 1), IsEmpty());
  EXPECT_TRUE(queue_.has(ready(1)));
  EXPECT_EQ(queue_.size(), 0u);
  add({ready(1)});
  EXPECT_THAT(take(queue_, 1), ElementsAre(1));
}

TEST_F(ReadyQueueTest, ForgetsWhatIsRemoved) {
  add({ready(1), ready(2)});
  queue_.remove(ready(1));
  queue_.remove(ready(1));
  EXPECT_FALSE(queue_.has(ready(1)));
  EXPECT_EQ(queue_.size(), 1u);
  EXPECT_THAT(take(queue_, 10), ElementsAre(2));
}

TEST_F(ReadyQueueTest, ForgetsWhatIsRemovedAfterItWasTaken) {
  add({ready(1)});
  take(queue_, 1);
  queue_.remove(ready(1));
  EXPECT_FALSE(queue_.has(ready(1)));
  EXPECT_THAT(take(queue_, 1), IsEmpty());
}

TEST_F(ReadyQueueTest, CountsWhatIsAddedTwiceOnce) {
  add({ready(1), ready(1)});
  EXPECT_EQ(queue_.size(), 1u);
  EXPECT_THAT(take(queue_, 10), ElementsAre(1));
}

TEST_F(ReadyQueueTest, PassesOverWhatABudgetOrAQuotaHoldsBack) {
  add({spending({budget(1)}, ready(1, 9)), spending({budget(1), budget(2)}, ready(2, 8)),
       under(quota(1), ready(3, 7)), spending({budget(2)}, under(quota(2), ready(4, 6))),
       ready(5)});
  EXPECT_THAT(take(queue_, 10, {.closed = {.budgets = {budget(2)}, .quotas = {quota(1)}}}),
              ElementsAre(1, 5));
  EXPECT_THAT(take(queue_, 10, {.closed = {.quotas = {quota(2)}}}), ElementsAre(2, 3));
  EXPECT_THAT(take(queue_, 10), ElementsAre(4));
}

TEST_F(ReadyQueueTest, TellsWhatIsTakenNeeds) {
  const auto execution = requiring({"gpu"}, spending({budget(1)}, under(quota(2), ready(1))));
  add({execution});
  const auto taken = queue_.take({.ns = default_namespace(),
                                  .lanes = {default_lane()},
                                  .capabilities = execution.needs.capabilities,
                                  .max = 1});
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].id, execution.id);
  EXPECT_EQ(taken[0].needs, execution.needs);
}

TEST_F(ReadyQueueTest, OffersWorkAgainWhenItsBudgetHasRoom) {
  add({spending({budget(1)}, ready(1))});
  EXPECT_THAT(take(queue_, 10, {.closed = {.budgets = {budget(1)}}}), IsEmpty());
  EXPECT_THAT(take(queue_, 10), ElementsAre(1));
}

TEST_F(ReadyQueueTest, ShowsTheGroupsThatNeedABudgetOrQuota) {
  add({ready(1), spending({budget(1)}, ready(2)), spending({budget(1)}, ready(3, 5)),
       spending({budget(1), budget(2)}, ready(4, 5)), under(quota(1), ready(5, 0, "other"))});
  const auto groups = queue_.peek({.members_max = 10, .needing = {budget(1)}});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].lane, default_lane());
  EXPECT_THAT(groups[0].needs.budgets, ElementsAre(budget(1)));
  EXPECT_THAT(numbers_of(groups[0].best), ElementsAre(3, 2));
  EXPECT_THAT(numbers_of(groups[1].best), ElementsAre(4));
  const auto under_quota = queue_.peek({.members_max = 10, .needing = {quota(1)}});
  ASSERT_EQ(under_quota.size(), 1u);
  EXPECT_EQ(under_quota[0].lane.str(), "other");
}

TEST_F(ReadyQueueTest, ShowsTheKindOfAGroup) {
  add({spending({budget(1)}, of_kind("a", ready(1))),
       spending({budget(1)}, of_kind("b", ready(2)))});
  const auto groups = queue_.peek({.members_max = 10, .needing = {budget(1)}});
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].kind, kind("a"));
  EXPECT_EQ(groups[1].kind, kind("b"));
}

TEST_F(ReadyQueueTest, ShowsNoMoreOfAGroupThanAskedFor) {
  for (std::uint8_t number = 0; number < 20; ++number)
    add({spending({budget(1)}, ready(number, number % 3))});
  const auto groups = queue_.peek({.members_max = 2, .needing = {budget(1)}});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_THAT(numbers_of(groups[0].best), ElementsAre(2, 5));
}

TEST_F(ReadyQueueTest, ShowsNothingOfWhatIsTakenOrRemoved) {
  add({spending({budget(1)}, ready(1)), spending({budget(1)}, ready(2))});
  take(queue_, 1);
  queue_.remove(spending({budget(1)}, ready(2)));
  EXPECT_THAT(queue_.peek({.members_max = 10, .needing = {budget(1)}}), IsEmpty());
}

// ---- Fairness keys -------------------------------------------------------------------------------

// Many of one key, with numbers of their own beyond those of `ready`.
Ready ready_number(std::uint32_t number, std::int32_t priority = 0) {
  Uuid::Bytes bytes{};
  for (std::size_t i = 0; i < 4; ++i) bytes[15 - i] = static_cast<std::uint8_t>(number >> 8 * i);
  return {.id = ExecutionId{0, Uuid{bytes}},
          .ns = default_namespace(),
          .lane = default_lane(),
          .priority = priority,
          .queued_at = t0 + Millis{number}};
}

// How many of each key are among the next `count` that are taken, one after the other.
std::map<std::string, int> take_by_key(ReadyQueue& queue, int count) {
  std::map<std::string, int> taken;
  TakeReady query{
      .ns = default_namespace(), .lanes = {default_lane()}, .capabilities = {}, .max = 1};
  for (int i = 0; i < count; ++i)
    for (const auto& each : queue.take(query))
      ++taken[each.needs.share ? each.needs.share->key.str() : ""];
  return taken;
}

TEST_F(ReadyQueueTest, ABacklogOfOneKeyDoesNotDelayTheFirstOfAnother) {
  for (std::uint32_t number = 0; number < 1'000; ++number)
    queue_.add(of_key("big", ready_number(number)));
  take_by_key(queue_, 100);
  queue_.add(of_key("small", ready_number(5'000)));
  EXPECT_EQ(take_by_key(queue_, 2)["small"], 1);
}

TEST_F(ReadyQueueTest, KeysShareTheStartsOfALaneByWeight) {
  for (std::uint32_t number = 0; number < 3'000; number += 3) {
    queue_.add(of_key("a", ready_number(number)));
    queue_.add(of_key("b", ready_number(number + 1), 3));
    queue_.add(ready_number(number + 2));
  }
  auto taken = take_by_key(queue_, 500);
  EXPECT_NEAR(taken["a"], 100, 3);
  EXPECT_NEAR(taken["b"], 300, 3);
  EXPECT_NEAR(taken[""], 100, 3);
}

TEST_F(ReadyQueueTest, KeysShareOverKindsNeedsAndCapabilities) {
  for (std::uint32_t number = 0; number < 1'200; number += 4) {
    queue_.add(of_key("a", of_kind("x", ready_number(number))));
    queue_.add(of_key("a", of_kind("y", ready_number(number + 1))));
    queue_.add(of_key("a", spending({budget(1)}, ready_number(number + 2))));
    queue_.add(of_key("b", ready_number(number + 3)));
  }
  auto taken = take_by_key(queue_, 200);
  EXPECT_NEAR(taken["a"], 100, 2);
  EXPECT_NEAR(taken["b"], 100, 2);
}

TEST_F(ReadyQueueTest, PriorityGoesBeforeTurns) {
  for (std::uint32_t number = 0; number < 20; ++number)
    queue_.add(of_key("urgent", ready_number(number, 5)));
  queue_.add(of_key("other", ready_number(100)));
  EXPECT_EQ(take_by_key(queue_, 10)["other"], 0);
}

TEST_F(ReadyQueueTest, AKeyIsOrderedByAge) {
  add({of_key("a", ready(3)), of_key("a", ready(1), 2), of_key("a", of_kind("x", ready(2)))});
  EXPECT_THAT(take(queue_, 10), ElementsAre(1, 2, 3));
}

TEST_F(ReadyQueueTest, AKeyPaysOnlyForWhatStarts) {
  for (std::uint32_t number = 0; number < 200; number += 2) {
    queue_.add(of_key("a", ready_number(number)));
    queue_.add(of_key("b", ready_number(number + 1)));
  }
  TakeReady query{
      .ns = default_namespace(), .lanes = {default_lane()}, .capabilities = {}, .max = 1};
  for (int i = 0; i < 10; ++i) {  // taken, and put back
    const auto taken = queue_.take(query);
    ASSERT_EQ(taken.size(), 1u);
    Ready back = ready_number(taken[0].id.uuid().bytes()[15]);
    back.needs = taken[0].needs;
    queue_.add(back);
  }
  auto taken = take_by_key(queue_, 20);
  EXPECT_NEAR(taken["a"], 10, 1);
}

// ---- Cost ----------------------------------------------------------------------------------------

constexpr std::uint32_t many = 10'000;

// What a take of one looks at, in the middle of many.
std::uint64_t looks_per_take(ReadyQueue& queue, Closed closed = {}) {
  const TakeReady query{.ns = default_namespace(),
                        .lanes = {default_lane()},
                        .capabilities = {},
                        .max = 1,
                        .closed = std::move(closed)};
  constexpr std::uint64_t takes = 160;
  queue.take(query);
  const auto before = queue.looks();
  for (std::uint64_t i = 0; i < takes; ++i) EXPECT_EQ(queue.take(query).size(), 1u);
  return (queue.looks() - before) / takes;
}

BudgetId budget_number(std::uint32_t number) { return BudgetId{ready_number(number).id.uuid()}; }

TEST_F(ReadyQueueTest, ATakeDoesNotLookAtEveryBudget) {
  for (std::uint32_t number = 0; number < many; ++number)
    queue_.add(spending({budget_number(number)}, ready_number(number)));
  EXPECT_LE(looks_per_take(queue_), 4u);
}

TEST_F(ReadyQueueTest, ATakeDoesNotLookAtEveryKind) {
  for (std::uint32_t number = 0; number < many; ++number)
    queue_.add(of_kind(fmt::format("kind-{}", number).c_str(), ready_number(number)));
  EXPECT_LE(looks_per_take(queue_), 4u);
}

TEST_F(ReadyQueueTest, ATakeDoesNotLookAtEveryKey) {
  for (std::uint32_t number = 0; number < many; ++number)
    queue_.add(of_key(fmt::format("key-{}", number % 1'000).c_str(), ready_number(number)));
  EXPECT_LE(looks_per_take(queue_), 4u);
}

TEST_F(ReadyQueueTest, ATakeMeetsWhatIsHeldBackOnce) {
  Closed closed;
  for (std::uint32_t number = 0; number < 1'000; ++number) {
    closed.budgets.insert(budget_number(number));
    queue_.add(spending({budget_number(number)}, ready_number(number, 9)));
  }
  for (std::uint32_t number = 0; number < 200; ++number) queue_.add(ready_number(many + number));
  EXPECT_LE(looks_per_take(queue_, closed), 4u);
}

TEST_F(ReadyQueueTest, WhatWasHeldBackComesInItsPlaceWhenItMayStart) {
  add({spending({budget(1)}, ready(1, 9)), spending({budget(1)}, ready(2, 3)), ready(3, 5),
       spending({budget(2)}, ready(4, 9)), ready(5)});
  EXPECT_THAT(take(queue_, 1, {.closed = {.budgets = {budget(1), budget(2)}}}), ElementsAre(3));
  add({spending({budget(1)}, ready(6, 8))});  // joins those that are put aside
  queue_.remove(spending({budget(2)}, ready(4, 9)));
  EXPECT_THAT(take(queue_, 10), ElementsAre(1, 6, 2, 5));
  EXPECT_EQ(queue_.size(), 0u);
}

TEST_F(ReadyQueueTest, GivesEachToOneOfManyTakers) {
  for (std::uint8_t number = 0; number < 250; ++number) add({ready(number)});
  std::mutex mutex;
  std::vector<int> all;
  {
    std::vector<std::jthread> takers;
    for (int i = 0; i < 4; ++i)
      takers.emplace_back([&] {
        for (auto taken = take(queue_, 3); !taken.empty(); taken = take(queue_, 3)) {
          const std::lock_guard lock(mutex);
          all.insert(all.end(), taken.begin(), taken.end());
        }
      });
  }
  std::ranges::sort(all);
  EXPECT_EQ(all.size(), 250u);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

}  // namespace
}  // namespace ff::store
