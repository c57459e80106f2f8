#include "store/embedded/indexes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::embedded {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimePoint t0{Millis{1'800'000'000'000}};

ExecutionId id_of(std::uint8_t number) {
  Uuid::Bytes bytes{};
  bytes[15] = number;
  return {number, Uuid{bytes}};
}

core::Execution ready(std::uint8_t number, std::int32_t priority = 0,
                      const char* lane = "default") {
  return {.id = id_of(number),
          .ns = default_namespace(),
          .lane = *LaneId::parse(lane),
          .kind = *Kind::parse("k"),
          .priority = priority,
          .created_at = t0 + Millis{number}};
}

core::Execution leased(std::uint8_t number, TimePoint expires_at) {
  auto execution = ready(number);
  execution.state = core::Active{{.fence = {}, .worker = {}, .expires_at = expires_at}};
  return execution;
}

std::vector<int> heads(const Indexes& indexes, std::vector<const char*> lanes, std::size_t max) {
  store::ReadyHeads query{.ns = default_namespace(), .lanes = {}, .max = max};
  for (const char* lane : lanes) query.lanes.push_back(*LaneId::parse(lane));
  std::vector<int> numbers;
  for (const auto& head : indexes.ready_heads(query)) numbers.push_back(head.id.partition());
  return numbers;
}

TEST(Indexes, GiveTheHighestPriorityFirstThenTheOldest) {
  Indexes indexes;
  for (const auto& execution : {ready(1), ready(2), ready(3, 5), ready(4, 5), ready(5, 9000)})
    indexes.add(execution);
  EXPECT_THAT(heads(indexes, {"default"}, 10), ElementsAre(5, 3, 4, 1, 2));
  EXPECT_THAT(heads(indexes, {"default"}, 2), ElementsAre(5, 3));
}

TEST(Indexes, MergeTheLanesThatAreAskedFor) {
  Indexes indexes;
  for (const auto& execution : {ready(1, 0, "a"), ready(2, 7, "b"), ready(3, 9, "c")})
    indexes.add(execution);
  EXPECT_THAT(heads(indexes, {"a", "b"}, 10), ElementsAre(2, 1));
  EXPECT_THAT(heads(indexes, {"a", "a"}, 10), ElementsAre(1));
  EXPECT_THAT(heads(indexes, {"d"}, 10), IsEmpty());
}

TEST(Indexes, ForgetWhatIsRemoved) {
  Indexes indexes;
  indexes.add(ready(1));
  indexes.remove(ready(1));
  EXPECT_THAT(heads(indexes, {"default"}, 10), IsEmpty());
}

TEST(Indexes, KeepTenantsApart) {
  Indexes indexes;
  indexes.add(ready(1));
  const store::ReadyHeads other{
      .ns = *Namespace::parse("other"), .lanes = {default_lane()}, .max = 10};
  EXPECT_THAT(indexes.ready_heads(other), IsEmpty());
}

TEST(Indexes, KnowWhoseLeaseHasRunOut) {
  Indexes indexes;
  for (const auto& execution : {leased(1, t0 + 3s), leased(2, t0 + 1s), leased(3, t0 + 2s)})
    indexes.add(execution);
  EXPECT_THAT(indexes.leases_due(t0, 10), IsEmpty());
  const store::LeaseDue second{t0 + 1s, id_of(2)}, third{t0 + 2s, id_of(3)};
  EXPECT_THAT(indexes.leases_due(t0 + 2s, 10), ElementsAre(second, third));
  EXPECT_THAT(indexes.leases_due(t0 + 9s, 1), ElementsAre(second));
  EXPECT_THAT(first({third, second}, 1), ElementsAre(second));
}

}  // namespace
}  // namespace ff::embedded
