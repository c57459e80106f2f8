#include "core/execution/partitions.hpp"

#include <set>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace ff::core {
namespace {

TEST(Partitions, OfUuidsFollowTheContractsVectors) {
  const auto partition = [](const char* text, PartitionIndex count) {
    return partition_of(*Uuid::parse(text), count);
  };
  EXPECT_EQ(partition("550e8400-e29b-41d4-a716-446655440000", 256), 24);
  EXPECT_EQ(partition("11111111-1111-1111-1111-111111111111", 256), 6);
  EXPECT_EQ(partition("01234567-89ab-cdef-0123-456789abcdef", 32), 5);
  EXPECT_EQ(partition("ffffffff-ffff-ffff-ffff-ffffffffffff", 4), 1);
}

TEST(Partitions, AllGetTheirShare) {
  SystemRandom random;
  std::set<PartitionIndex> hit;
  for (int i = 0; i < 10'000; ++i) hit.insert(partition_of(make_uuid(TimePoint{}, random), 256));
  EXPECT_EQ(hit.size(), 256u);
}

}  // namespace
}  // namespace ff::core
