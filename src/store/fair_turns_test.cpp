#include "store/fair_turns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::store {
namespace {

FairnessKey key(const std::string& text) { return *FairnessKey::parse(text); }

// Keys that always have work; each start goes to the lowest tag.
class FairTurnsTest : public ::testing::Test {
 protected:
  struct User {
    std::uint32_t weight = 1;
    FairTurns::Turn* turn = nullptr;
    int starts = 0;
  };

  void comes(const std::string& name, std::uint32_t weight = 1) {
    users_[name].weight = weight;
    users_[name].turn = &turns_.hold(key(name));
  }
  void goes(const std::string& name) {
    turns_.let_go(key(name));
    users_[name].turn = nullptr;
  }
  std::string start() {
    std::string next;
    for (const auto& [name, user] : users_)
      if (user.turn && (next.empty() || user.turn->tag < users_[next].turn->tag)) next = name;
    auto& user = users_[next];
    last_price_ = turns_.charge(*user.turn, user.weight, true);
    ++user.starts;
    return next;
  }
  void start(int times) {
    for (int i = 0; i < times; ++i) start();
  }
  int starts_of(const std::string& name) { return std::exchange(users_[name].starts, 0); }

  FairTurns turns_;
  std::map<std::string, User> users_;
  FairTurns::Tag last_price_ = 0;
};

TEST_F(FairTurnsTest, KeysOfEqualWeightTakeTurns) {
  comes("a");
  comes("b");
  start(100);
  EXPECT_EQ(starts_of("a"), 50);
  EXPECT_EQ(starts_of("b"), 50);
}

TEST_F(FairTurnsTest, KeysShareTheStartsByWeight) {
  comes("a", 1);
  comes("b", 3);
  comes("c", 6);
  start(1000);
  EXPECT_NEAR(starts_of("a"), 100, 2);
  EXPECT_NEAR(starts_of("b"), 300, 2);
  EXPECT_NEAR(starts_of("c"), 600, 2);
}

TEST_F(FairTurnsTest, KeyThatComesLateGetsItsShareFromThenOn) {
  comes("a");
  start(1000);
  comes("b");
  starts_of("a");
  start(100);
  EXPECT_NEAR(starts_of("a"), 50, 1);
  EXPECT_NEAR(starts_of("b"), 50, 1);
}

TEST_F(FairTurnsTest, KeyThatGoesAndComesBackAtOnceWaitsForItsTurn) {
  comes("a");
  comes("b");
  for (int i = 0; i < 100; ++i) {
    if (start() != "b") continue;
    goes("b");
    comes("b");
  }
  EXPECT_EQ(starts_of("a"), 50);
}

TEST_F(FairTurnsTest, KeyThatCouldNotBeServedCatchesUpByAFewStartsOnly) {
  comes("a");
  comes("held-back");
  const auto held_back = std::exchange(users_["held-back"].turn, nullptr);
  start(1000);
  users_["held-back"].turn = held_back;
  int in_a_row = 0;
  while (start() == "held-back") ++in_a_row;
  EXPECT_GT(in_a_row, 1);
  EXPECT_LE(in_a_row, 10);
}

TEST_F(FairTurnsTest, StartThatDidNotTakePlaceCostsNothing) {
  comes("a");
  comes("b");
  for (int i = 0; i < 10; ++i) {
    const auto next = start();
    turns_.give_back(key(next), last_price_);
  }
  start(10);
  EXPECT_NEAR(starts_of("a") + starts_of("b"), 20, 0);
  EXPECT_LE(std::max(users_["a"].turn->tag, users_["b"].turn->tag),
            std::min(users_["a"].turn->tag, users_["b"].turn->tag) + last_price_);
}

TEST_F(FairTurnsTest, IsEmptyWhenNobodyHoldsATurn) {
  EXPECT_TRUE(turns_.empty());
  comes("a");
  start(3);
  EXPECT_FALSE(turns_.empty());
  goes("a");
  EXPECT_TRUE(turns_.empty());
}

TEST_F(FairTurnsTest, ManyKeysThatComeOnceAreForgotten) {
  comes("a");
  for (int i = 0; i < 20'000; ++i) {
    const auto once = key("once-" + std::to_string(i));
    turns_.charge(turns_.hold(once), 1, false);
    turns_.let_go(once);
  }
  EXPECT_LE(turns_.size(), 10'002u);
  start(3);
  EXPECT_LE(turns_.size(), 2u);
}

}  // namespace
}  // namespace ff::store
