#include "store/embedded/shard/hot_edges.hpp"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/values.hpp"

namespace ff::embedded {
namespace {

using test::id_of;
using ::testing::ElementsAre;

core::Edge edge(std::uint8_t upstream, std::uint8_t downstream) {
  return {.id = {id_of(downstream), 0}, .upstream = id_of(upstream)};
}

core::Edge satisfied(std::uint8_t upstream, std::uint8_t downstream) {
  auto decided = edge(upstream, downstream);
  decided.state = core::EdgeState::satisfied;
  return decided;
}

class HotEdgesTest : public ::testing::Test {
 protected:
  // Node 1, with edges to three others.
  HotEdgesTest() {
    for (const std::uint8_t downstream : std::array<std::uint8_t, 3>{4, 2, 3})
      edges_.add(edge(1, downstream));
  }

  HotEdges edges_{10};
};

TEST_F(HotEdgesTest, AreListedInOrderSliceBySlice) {
  const auto first = edges_.out_of(id_of(1), 3, std::nullopt, 2);
  ASSERT_TRUE(first);
  EXPECT_THAT(*first, ElementsAre(edge(1, 2).id, edge(1, 3).id));
  EXPECT_THAT(edges_.out_of(id_of(1), 3, first->back(), 2).value(), ElementsAre(edge(1, 4).id));
}

TEST_F(HotEdgesTest, AreNotListedIfSomeAreMissing) {
  EXPECT_EQ(edges_.out_of(id_of(1), 4, std::nullopt, 2), std::nullopt);
  EXPECT_EQ(edges_.out_of(id_of(2), 1, std::nullopt, 2), std::nullopt);
}

TEST_F(HotEdgesTest, DecidedOnesLeaveAndAreListedUntilAllAreDecided) {
  edges_.put(satisfied(1, 2));
  edges_.put(satisfied(1, 3));
  EXPECT_EQ(edges_.find(edge(1, 2).id), nullptr);
  ASSERT_TRUE(edges_.find(edge(1, 4).id));
  EXPECT_EQ(*edges_.find(edge(1, 4).id), edge(1, 4));
  EXPECT_EQ(edges_.out_of(id_of(1), 3, std::nullopt, 9).value().size(), 3u);
  edges_.put(satisfied(1, 4));
  EXPECT_EQ(edges_.out_of(id_of(1), 3, std::nullopt, 9), std::nullopt);
}

TEST_F(HotEdgesTest, OpenedAgainAreNotKnown) {
  edges_.put(satisfied(1, 2));
  edges_.put(edge(1, 2));
  EXPECT_EQ(edges_.find(edge(1, 2).id), nullptr);
}

TEST_F(HotEdgesTest, LeaveWithTheirNode) {
  edges_.erase(id_of(1));
  EXPECT_EQ(edges_.find(edge(1, 2).id), nullptr);
  EXPECT_EQ(edges_.out_of(id_of(1), 3, std::nullopt, 9), std::nullopt);
}

TEST_F(HotEdgesTest, AllLeaveIfThereAreTooMany) {
  edges_.shrink();
  EXPECT_TRUE(edges_.find(edge(1, 2).id));
  for (std::uint8_t downstream = 10; downstream < 20; ++downstream) edges_.add(edge(5, downstream));
  edges_.shrink();
  EXPECT_EQ(edges_.find(edge(1, 2).id), nullptr);
  edges_.add(edge(5, 30));
  EXPECT_EQ(edges_.out_of(id_of(5), 11, std::nullopt, 99), std::nullopt) << "not all are known";
}

}  // namespace
}  // namespace ff::embedded
