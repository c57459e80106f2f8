#include "store/valkey/ready_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::valkey {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PartitionIndex partition = 7;

// The higher its number, the newer it is.
store::Ready waiting(std::uint8_t number, std::int32_t priority = 0) {
  Uuid::Bytes bytes{};
  bytes[15] = number;
  return {.id = ExecutionId{partition, Uuid{bytes}},
          .ns = default_namespace(),
          .lane = default_lane(),
          .priority = priority,
          .queued_at = TimePoint{Millis{1'800'000'000'000 + number}}};
}

store::TakeReady up_to(std::size_t max) {
  return {.ns = default_namespace(), .lanes = {default_lane()}, .capabilities = {}, .max = max};
}

std::vector<int> take(ReadyCache& cache, std::size_t max) {
  std::vector<int> numbers;
  for (const auto& [id, needs] : cache.take(up_to(max))) numbers.push_back(id.uuid().bytes()[15]);
  return numbers;
}

TEST(ReadyCache, GivesTheBestFirst) {
  ReadyCache cache;
  for (const auto& ready : {waiting(2), waiting(1), waiting(3, 5)}) cache.put(ready);
  EXPECT_THAT(take(cache, 3), ElementsAre(3, 1, 2));
  EXPECT_THAT(take(cache, 3), IsEmpty());
}

TEST(ReadyCache, FollowsAChangedPriority) {
  ReadyCache cache;
  cache.put(waiting(1));
  cache.put(waiting(2));
  cache.put(waiting(2, 9));
  EXPECT_THAT(take(cache, 3), ElementsAre(2, 1));
}

TEST(ReadyCache, OffersAgainWhatIsPutBack) {
  ReadyCache cache;
  cache.put(waiting(1));
  EXPECT_THAT(take(cache, 1), ElementsAre(1));
  cache.put_back(waiting(1).id);
  EXPECT_THAT(take(cache, 1), ElementsAre(1));
  cache.erase(waiting(1).id);
  cache.put_back(waiting(1).id);
  EXPECT_THAT(take(cache, 1), IsEmpty());
}

TEST(ReadyCache, WhatIsHeardWhileLookingIsNewerThanWhatIsFound) {
  ReadyCache cache;
  cache.put(waiting(1));
  {
    ReadyCache::Look look(cache);
    cache.erase(waiting(1).id);
    EXPECT_FALSE(look.put(waiting(1)));
    EXPECT_TRUE(look.put(waiting(2)));
    EXPECT_FALSE(look.put(waiting(2)));
  }
  EXPECT_THAT(take(cache, 2), ElementsAre(2));
}

TEST(ReadyCache, KeepsTheBestOfALongBacklogAndAsksForTheRest) {
  ReadyCache cache(/*share_max=*/2);
  for (std::uint8_t number = 1; number <= 5; ++number) cache.put(waiting(number));
  EXPECT_THAT(cache.dry(up_to(1)), IsEmpty());
  EXPECT_THAT(take(cache, 5), ElementsAre(1, 2));
  const auto dry = cache.dry(up_to(1));
  ASSERT_EQ(dry.size(), 1u);
  EXPECT_EQ(dry[0].partition, partition);
  EXPECT_EQ(dry[0].ask_for, ReadyCache::ask_for_min);
}

TEST(ReadyCache, AsksNoMoreWhenAllIsKnown) {
  ReadyCache cache;
  cache.note_more(partition, default_namespace(), default_lane(), 0);
  EXPECT_EQ(cache.dry(up_to(1)).size(), 1u);
  cache.note_all(partition, default_namespace(), default_lane());
  EXPECT_THAT(cache.dry(up_to(1)), IsEmpty());
}

TEST(ReadyCache, AsksFurtherForAWorkerThatCanRunNothingOfWhatIsKnown) {
  ReadyCache cache;
  auto gpu = waiting(1);
  gpu.needs.capabilities = *CapabilitySet::parse({"gpu"});
  cache.put(gpu);
  cache.note_more(partition, gpu.ns, gpu.lane, 0);
  const auto first = cache.dry(up_to(1));
  ASSERT_EQ(first.size(), 1u);
  EXPECT_GT(cache.dry(up_to(1)).at(0).ask_for, first[0].ask_for);
}

TEST(ReadyCache, AsksFurtherIfWhatIsKnownWaitsForABudget) {
  ReadyCache cache;
  auto costly = waiting(1);
  costly.needs.budgets = {*BudgetId::parse("aaaaaaaa-0000-4000-8000-000000000000")};
  costly.blocked = true;
  cache.put(costly);
  cache.note_more(partition, costly.ns, costly.lane, 0);
  EXPECT_THAT(cache.dry(up_to(1)), IsEmpty());
  auto query = up_to(1);
  query.closed.budgets = {costly.needs.budgets.front()};
  EXPECT_EQ(cache.dry(query).size(), 1u);
  EXPECT_THAT(cache.take(query), IsEmpty());
  EXPECT_THAT(take(cache, 1), ElementsAre(1));
}

}  // namespace
}  // namespace ff::valkey
