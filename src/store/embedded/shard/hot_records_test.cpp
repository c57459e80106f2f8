#include "store/embedded/shard/hot_records.hpp"

#include <malloc.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/values.hpp"

namespace ff::embedded {
namespace {

using test::id_of;

HotRecord record(std::uint8_t number, std::size_t payload_bytes = 0) {
  HotRecord record{.execution = {}};
  record.execution.id = id_of(number);
  if (payload_bytes > 0) record.payload = std::string(payload_bytes, 'p');
  return record;
}

std::vector<int> numbers_in(HotRecords& records) {
  std::vector<int> numbers;
  for (std::uint8_t number = 0; number < 100; ++number)
    if (records.find(id_of(number))) numbers.push_back(number);
  return numbers;
}

constexpr BatchNumber all_batches = 1000;

TEST(HotRecords, FindWhatWasPutUntilItIsErased) {
  HotRecords records(1 << 20);
  records.put(record(1));
  ASSERT_TRUE(records.find(id_of(1)));
  EXPECT_EQ(records.find(id_of(2)), nullptr);
  records.erase(id_of(1));
  records.erase(id_of(1));
  EXPECT_EQ(records.find(id_of(1)), nullptr);
  EXPECT_EQ(records.bytes(), 0u);
}

TEST(HotRecords, CountTheBytesOfPayloadsThatComeAndGo) {
  HotRecords records(1 << 20);
  records.put(record(1));
  const auto without = records.bytes();
  auto& held = records.put(record(1, 10'000));
  EXPECT_GE(records.bytes(), without + 10'000);
  held.payload.reset();
  records.resized(id_of(1));
  EXPECT_EQ(records.bytes(), without);
}

TEST(HotRecords, LetTheLeastUsedGoWhenTheyAreTooMany) {
  HotRecords records(38'000);
  for (std::uint8_t number = 1; number <= 4; ++number) records.put(record(number, 10'000));
  records.find(id_of(1));
  records.shrink(all_batches, all_batches);
  EXPECT_LE(records.bytes(), 38'000u);
  EXPECT_THAT(numbers_in(records), ::testing::ElementsAre(1, 3, 4));
}

TEST(HotRecords, BoundTheMemoryOfTags) {
  constexpr std::size_t bytes_max = 4 << 20;
  constexpr std::size_t tags = 250;
  for (const std::size_t tag_bytes : {1, 1'000}) {
    const auto allocated = [] { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; };
    const auto before = allocated();
    std::size_t most = 0;
    HotRecords records(bytes_max);
    for (std::uint8_t number = 0; number < 200; ++number) {
      auto next = record(number);
      for (std::size_t tag = 0; tag < tags; ++tag)
        next.execution.tags.emplace("app.tag" + std::to_string(tag), std::string(tag_bytes, 'v'));
      records.put(std::move(next));
      records.shrink(all_batches, all_batches);
      most = std::max(most, allocated() - before);
    }
    EXPECT_LE(most, bytes_max + bytes_max / 4) << tag_bytes;
  }
}

TEST(HotRecords, StayAsTheyAreBelowTheLimit) {
  HotRecords records(1 << 20);
  for (std::uint8_t number = 1; number <= 3; ++number) records.put(record(number, 10'000));
  records.shrink(all_batches, all_batches);
  EXPECT_THAT(numbers_in(records), ::testing::ElementsAre(1, 2, 3));
}

TEST(HotRecords, NeverLetGoOfWhatIsNotWritten) {
  HotRecords records(1);
  auto unwritten = record(1);
  unwritten.changed_in = 8;
  records.put(std::move(unwritten));
  records.put(record(2));
  records.shrink(7, all_batches);
  EXPECT_THAT(numbers_in(records), ::testing::ElementsAre(1));
  records.shrink(8, all_batches);
  EXPECT_EQ(records.bytes(), 0u);
}

TEST(HotRecords, NeverLetGoOfWhatIsNotSynced) {
  HotRecords records(1);
  auto unsynced = record(1);
  unsynced.durable_in = unsynced.changed_in = 8;
  records.put(std::move(unsynced));
  records.put(record(2));
  records.shrink(8, 7);
  EXPECT_THAT(numbers_in(records), ::testing::ElementsAre(1));
  records.shrink(8, 8);
  EXPECT_EQ(records.bytes(), 0u);
}

}  // namespace
}  // namespace ff::embedded
