#include "store/ready_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimePoint t0{Millis{1'800'000'000'000}};

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
  execution.required = *CapabilitySet::parse(std::move(tokens));
  return execution;
}

struct Worker {
  std::vector<const char*> lanes = {"default"};
  std::vector<std::string> capabilities = {};
  const char* ns = "default";
};

std::vector<int> take(ReadyQueue& queue, std::size_t max, const Worker& worker = {}) {
  TakeReady query{.ns = *Namespace::parse(worker.ns),
                  .lanes = {},
                  .capabilities = *CapabilitySet::parse(worker.capabilities),
                  .max = max};
  for (const char* lane : worker.lanes) query.lanes.push_back(*LaneId::parse(lane));
  std::vector<int> numbers;
  for (const auto& id : queue.take(query)) numbers.push_back(id.partition());
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
