#include "store/embedded/shard/live_streams.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <flowfabric/limits.hpp>

#include "tests/support/values.hpp"

namespace ff::embedded {
namespace {

using ::testing::ElementsAre;
using test::t0;

ExecutionId execution(std::uint8_t last) {
  Uuid::Bytes bytes{};
  bytes[15] = last;
  return {7, Uuid{bytes}};
}

core::Append append(std::uint64_t end, std::size_t bytes = 1) {
  return {.place = {.end = end}, .at = t0, .frames = {{.bytes = std::string(bytes, 'x')}}};
}

TEST(LiveStreams, KeepTheAppendsOfAStreamInOrder) {
  LiveStreams streams(100'000);
  streams.add(execution(1), append(1));
  streams.add(execution(1), append(2));
  streams.erase_oldest(execution(1), 0);
  const auto& appends = streams.appends(execution(1), 0);
  ASSERT_EQ(appends.size(), 1u);
  EXPECT_EQ(appends[0].place.end, 2u);
  EXPECT_TRUE(streams.appends(execution(1), 5).empty());
  EXPECT_TRUE(streams.appends(execution(2), 0).empty());
  streams.erase(execution(1));
  EXPECT_TRUE(streams.empty());
  EXPECT_EQ(streams.bytes(), 0u);
}

TEST(LiveStreams, LoseTheLeastUsedExecutionsWhenTheyAreTooMany) {
  LiveStreams streams(50'000);
  for (std::uint8_t i = 1; i <= 3; ++i) streams.add(execution(i), append(1, 20'000));
  streams.add(execution(1), append(2));
  EXPECT_THAT(streams.shrink(t0), ElementsAre(execution(2)));
  EXPECT_LE(streams.bytes(), 50'000u);
  EXPECT_THAT(streams.shrink(t0), ElementsAre());
}

TEST(LiveStreams, StayForAWhileAfterTheEndOfTheirExecution) {
  LiveStreams streams(50'000);
  streams.add(execution(1), append(1));
  streams.add(execution(2), append(1));
  streams.end(execution(1), t0);
  streams.end(execution(2), t0);
  streams.add(execution(2), append(2));  // it runs again
  EXPECT_THAT(streams.shrink(t0 + limits::live_kept_after_end - Millis{1}), ElementsAre());
  EXPECT_THAT(streams.shrink(t0 + limits::live_kept_after_end), ElementsAre(execution(1)));
  streams.end(execution(2), t0 + std::chrono::hours{1});
  EXPECT_THAT(streams.shrink(t0 + std::chrono::hours{2}), ElementsAre(execution(2)));
  EXPECT_EQ(streams.bytes(), 0u);
}

}  // namespace
}  // namespace ff::embedded
