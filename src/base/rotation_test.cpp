#include "base/rotation.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <set>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/text/hash.hpp"

namespace ff {
namespace {

TimePoint at(std::int64_t ms) { return TimePoint{Millis{ms}}; }

std::string print(const std::vector<PartitionIndex>& partitions) {
  return fmt::format("{}", fmt::join(partitions, " "));
}

// A worker whose scan begins at the cursor plus `offset`.
std::string worker_with_offset(PartitionIndex offset, PartitionIndex partition_count) {
  for (int i = 0;; ++i)
    if (auto name = fmt::format("w{}", i); fnv1a_u16_mod(name, partition_count) == offset)
      return name;
}

TEST(PartitionRotation, MovesOneStepPerWindowThatIsSeen) {
  PartitionRotation rotation({.partition_count = 256});
  const auto worker = worker_with_offset(0, 256);
  std::vector<PartitionIndex> cursors;
  for (const auto ms : {1000l, 1100l, 1249l, 1250l, 1500l, 2600l, 2601l, 1'000'000'000'000l})
    cursors.push_back(rotation.scan(worker, at(ms)).front());
  EXPECT_EQ(print(cursors), "32 32 32 64 96 128 128 160");
}

TEST(PartitionRotation, VisitsNeighboursAndWrapsAround) {
  // The first call of an object stands one step from the worker's own place.
  const auto visited = [](PartitionIndex count, PartitionIndex start, std::uint16_t per_scan) {
    PartitionRotation rotation({.partition_count = count, .partitions_per_scan_max = per_scan});
    const auto offset = static_cast<PartitionIndex>((start + count - per_scan % count) % count);
    return print(rotation.scan(worker_with_offset(offset, count), at(1000)));
  };
  EXPECT_EQ(visited(256, 10, 5), "10 11 12 13 14");
  EXPECT_EQ(visited(256, 254, 5), "254 255 0 1 2");
  EXPECT_EQ(visited(4, 1, 100), "1 2 3 0");
  EXPECT_EQ(visited(1, 0, 32), "0");
}

TEST(PartitionRotation, StartsElsewhereForEachWorker) {
  PartitionRotation rotation({.partition_count = 256});
  const auto visited = rotation.scan("w1-i1", at(1000));
  EXPECT_EQ(visited.size(), 32u);
  EXPECT_EQ(visited.front(), 118);
  EXPECT_EQ(visited.back(), 149);
  EXPECT_EQ(rotation.scan("w1", at(1000)).front(), 37);
}

TEST(PartitionRotation, LimitsOfZeroCountAsOne) {
  PartitionRotation rotation(
      {.partition_count = 8, .partitions_per_scan_max = 0, .window = Millis{0}});
  const auto worker = worker_with_offset(0, 8);
  EXPECT_EQ(print(rotation.scan(worker, at(1000))), "1");
  EXPECT_EQ(print(rotation.scan(worker, at(1000))), "1");
  EXPECT_EQ(print(rotation.scan(worker, at(1001))), "2");
}

using Numbers = std::vector<std::uint16_t>;

// How many partitions `worker` meets in `windows` successive windows from `now` on.
std::size_t reached(PartitionRotation& rotation, const char* worker, int windows, TimePoint now) {
  std::set<PartitionIndex> partitions;
  for (int i = 0; i < windows; ++i)
    for (const auto partition : rotation.scan(worker, now + i * Millis{250}))
      partitions.insert(partition);
  return partitions.size();
}

TEST(PartitionRotation, ReachesEveryPartitionInTime) {
  for (const auto count : Numbers{1, 3, 4, 31, 32, 33, 100, 256, 1000, 32768, 65535})
    for (const auto per_scan : Numbers{1, 5, 32, 64, 1000, 65535}) {
      PartitionRotation rotation({.partition_count = count, .partitions_per_scan_max = per_scan});
      const int windows = (count + per_scan - 1) / per_scan;
      auto now = at(1'800'000'000'000);
      for (const auto* worker : {"w1", "w2", "worker-a"}) {
        EXPECT_EQ(reached(rotation, worker, windows, now), count) << per_scan << " " << worker;
        now += windows * Millis{250};
      }
    }
}

TEST(PartitionRotation, VisitsAPartitionOnlyOnceInAScan) {
  for (const auto count : Numbers{1, 31, 32, 33, 40000, 65535})
    for (const auto per_scan : Numbers{32, 65535}) {
      PartitionRotation rotation({.partition_count = count, .partitions_per_scan_max = per_scan});
      const auto visited = rotation.scan("worker-a", at(1000));
      EXPECT_EQ(visited.size(), std::min(count, per_scan));
      EXPECT_EQ(std::set(visited.begin(), visited.end()).size(), visited.size());
    }
}

TEST(PartitionRotation, ALateCallJoinsTheLatestWindow) {
  PartitionRotation rotation({.partition_count = 256});
  const auto worker = worker_with_offset(0, 256);
  rotation.scan(worker, at(10'000));
  EXPECT_EQ(rotation.scan(worker, at(10'250)).front(), 64);
  EXPECT_EQ(rotation.scan(worker, at(10'249)).front(), 64);
  EXPECT_EQ(rotation.scan(worker, at(10'250)).front(), 64);
  EXPECT_EQ(rotation.scan(worker, at(10'500)).front(), 96);
}

TEST(PartitionRotation, GoesOnWhenTheClockIsSetBack) {
  PartitionRotation rotation({.partition_count = 256});
  const auto worker = worker_with_offset(0, 256);
  EXPECT_EQ(rotation.scan(worker, at(10'000'000)).front(), 32);
  EXPECT_EQ(rotation.scan(worker, at(6'400'000)).front(), 64);
  EXPECT_EQ(rotation.scan(worker, at(6'400'250)).front(), 96);
}

TEST(PartitionRotation, MovesOnceHoweverManyThreadsMeetAWindow) {
  constexpr int threads = 4, windows = 500, calls = 20;
  PartitionRotation rotation({.partition_count = 65535});
  const auto offset = fnv1a_u16_mod("w1", 65535);
  std::barrier next_window(threads);
  std::atomic<int> astray = 0;

  std::vector<std::jthread> callers;
  for (int i = 0; i < threads; ++i)
    callers.emplace_back([&] {
      for (int window = 1; window <= windows; ++window) {
        next_window.arrive_and_wait();
        const auto now = at(1'000'000 + window * 250);
        const auto expected = (offset + window * 32) % 65535;
        for (int call = 0; call < calls; ++call)
          for (const auto time : {now, now - Millis{1}})
            if (rotation.scan("w1", time).front() != expected) ++astray;
      }
    });
  callers.clear();
  EXPECT_EQ(astray, 0);
}

}  // namespace
}  // namespace ff
