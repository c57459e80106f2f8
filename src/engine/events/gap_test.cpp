// An engine whose store missed what others changed: those who wait find out for themselves.
#include "engine/breaking_store.hpp"

namespace ff {
namespace {

class Gap : public OnABreakingStore {
 protected:
  template <class Op>
  auto start(Op operation) {
    return test::start(*engine_, std::move(operation));
  }
};

TEST_F(Gap, EndsTheWaitForAResult) {
  begin();
  const auto claimed = must(run(claim(1))).executions.at(0);
  store_->hold_replies<store::ReadResult>();
  auto result = start(GetResult{.id = claimed.id, .wait = 30s});
  test::await("a look for the result", [&] { return store_->held() == 1; });
  store_->stop_telling();
  must(run(Complete{.id = claimed.id, .fence = claimed.fence, .result = "out"}));
  store_->let_go();  // it has not ended, says the first look
  store_->tell_again();
  ASSERT_EQ(result.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(must(result.get()).bytes, "out");
}

TEST_F(Gap, IsToldToFollowersOfEvents) {
  begin();
  const auto claimed = must(run(claim(1))).executions.at(0);
  auto follower =
      start(ReadEvents{.id = claimed.id, .after = must(run(ReadEvents{})).next, .wait = 30s});
  store_->stop_telling();
  must(run(Complete{.id = claimed.id, .fence = claimed.fence}));
  store_->tell_again();
  ASSERT_EQ(follower.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(must(follower.get()).missed);
}

}  // namespace
}  // namespace ff
