#include "store/valkey/fleet/division.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/random.hpp"
#include "store/valkey/keys.hpp"

namespace ff::valkey_store {
namespace {

constexpr PartitionIndex partitions = 256;

std::vector<Member> servers(int count) {
  std::vector<Member> members;
  for (int i = 0; i < count; ++i)
    members.push_back({.process = fmt::format("server-{}", i), .sweeps = true, .claims = true});
  return members;
}

ExecutionId execution(std::uint16_t number) {
  Uuid::Bytes bytes{};
  bytes[14] = static_cast<std::uint8_t>(number >> 8);
  bytes[15] = static_cast<std::uint8_t>(number);
  return {0, Uuid{bytes}};
}

// The process that sweeps each partition; fails if it is not exactly one.
std::map<PartitionIndex, std::string> sweepers(const std::vector<Member>& members) {
  std::map<PartitionIndex, std::string> found;
  for (const auto& member : members) {
    if (!member.sweeps) continue;
    const Division division(member.process, members);
    for (PartitionIndex i = 0; i < partitions; ++i)
      if (division.sweeps(keys::tag(i))) {
        EXPECT_TRUE(found.emplace(i, member.process).second) << i << " is swept twice";
      }
  }
  EXPECT_EQ(found.size(), partitions);
  return found;
}

TEST(Division, GivesEachPartitionToOneServer) {
  for (const int count : {1, 2, 3, 10}) {
    std::map<std::string, int> shares;
    for (const auto& [partition, process] : sweepers(servers(count))) ++shares[process];
    EXPECT_EQ(shares.size(), static_cast<std::size_t>(count));
    for (const auto& [process, share] : shares) {
      EXPECT_GT(share, partitions / count / 2) << process;
      EXPECT_LT(share, partitions / count * 2) << process;
    }
  }
}

TEST(Division, MovesOnlyTheShareOfAServerThatGoes) {
  auto members = servers(5);
  const auto before = sweepers(members);
  const auto gone = members.back().process;
  members.pop_back();
  for (const auto& [partition, process] : sweepers(members)) {
    const auto& owner = before.at(partition);
    EXPECT_EQ(process, owner == gone ? process : owner);
  }
}

TEST(Division, LeavesServersOutThatDoNotSweep) {
  auto members = servers(3);
  members[1].sweeps = false;
  for (const auto& [partition, process] : sweepers(members)) EXPECT_NE(process, "server-1");
}

// Whoever runs a scanner by hand means everything.
TEST(Division, WithoutAShareIsEverything) {
  auto members = servers(2);
  members[0].sweeps = false;
  const Division division("server-0", members);
  for (PartitionIndex i = 0; i < partitions; ++i) EXPECT_TRUE(division.sweeps(keys::tag(i)));
}

TEST(Division, RanksTheServersOfAnExecutionWithoutATie) {
  const auto members = servers(4);
  std::map<std::string, int> firsts;
  for (std::uint16_t i = 0; i < 1'000; ++i) {
    std::set<std::size_t> ranks;
    for (const auto& [process, sweeps, claims] : members) {
      const auto rank = Division(process, members).rank(execution(i));
      ranks.insert(rank);
      if (rank == 0) ++firsts[process];
    }
    EXPECT_THAT(ranks, ::testing::ElementsAre(0, 1, 2, 3));
  }
  for (const auto& [process, count] : firsts) EXPECT_NEAR(count, 250, 60) << process;
}

TEST(Division, RanksTheMakerOfAnExecutionFirst) {
  const auto members = servers(4);
  for (std::uint16_t i = 0; i < 100; ++i) {
    std::set<std::size_t> ranks;
    for (const auto& member : members)
      ranks.insert(Division(member.process, members).rank(execution(i), "server-2"));
    EXPECT_EQ(ranks.size(), 4U);
    EXPECT_EQ(Division("server-2", members).rank(execution(i), "server-2"), 0U);
  }
}

// Its own workers are none, so nobody is to wait for it.
TEST(Division, DoesNotRankAMakerWithoutClaims) {
  auto members = servers(3);
  members[2].claims = false;
  for (std::uint16_t i = 0; i < 100; ++i) {
    const auto first = Division("server-0", members).rank(execution(i), "server-2");
    const auto second = Division("server-1", members).rank(execution(i), "server-2");
    EXPECT_EQ(first + second, 1U);
  }
}

// It has just begun to claim, and the others do not know yet.
TEST(Division, RanksAServerBehindAllThatAreKnownToClaim) {
  auto members = servers(3);
  members[0].claims = false;
  EXPECT_EQ(Division("server-0", members).rank(execution(1)), 2U);
}

TEST(Division, OfOneServerRanksItFirst) {
  EXPECT_EQ(Division{}.rank(execution(1)), 0U);
  EXPECT_EQ(Division("server-0", servers(1)).rank(execution(1), "another"), 0U);
  EXPECT_EQ(Division("server-0", {}).rank(execution(1)), 0U);
}

}  // namespace
}  // namespace ff::valkey_store
