#include "engine/wait_list.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "base/runtime.hpp"

namespace ff {
namespace {

class WaitListTest : public ::testing::Test {
 protected:
  using List = WaitList<std::string>;

  bool woken(Wakeup& wakeup) {
    return asio::co_spawn(runtime_.executor(), wakeup.wait_until(std::chrono::steady_clock::now()),
                          asio::use_future)
        .get();
  }

  Runtime runtime_{1};
  List list_;
  Wakeup first_{runtime_.executor()};
  Wakeup second_{runtime_.executor()};
};

TEST_F(WaitListTest, WakesOneTheLongestWaiting) {
  const List::Place a(list_, {"mail"}, first_);
  const List::Place b(list_, {"mail"}, second_);
  list_.wake_one("mail");
  EXPECT_TRUE(woken(first_));
  EXPECT_FALSE(woken(second_));
}

TEST_F(WaitListTest, WakesTheNextWhileTheFirstIsBusy) {
  const List::Place a(list_, {"mail"}, first_);
  const List::Place b(list_, {"mail"}, second_);
  list_.wake_one("mail");
  list_.wake_one("mail");
  EXPECT_TRUE(woken(first_));
  EXPECT_TRUE(woken(second_));
}

TEST_F(WaitListTest, PassesAWakeUpOnThatWasNotUsed) {
  auto a = std::make_unique<List::Place>(list_, std::vector<std::string>{"mail"}, first_);
  const List::Place b(list_, {"mail"}, second_);
  list_.wake_one("mail");
  a.reset();
  EXPECT_TRUE(woken(second_));
}

TEST_F(WaitListTest, DoesNotPassOnWhatWasAccepted) {
  auto a = std::make_unique<List::Place>(list_, std::vector<std::string>{"mail"}, first_);
  const List::Place b(list_, {"mail"}, second_);
  list_.wake_one("mail");
  EXPECT_EQ(a->accept(), "mail");
  a.reset();
  EXPECT_FALSE(woken(second_));
}

TEST_F(WaitListTest, WaitsForSeveralThingsAtOnce) {
  const List::Place a(list_, {"mail", "post"}, first_);
  list_.wake_one("post");
  EXPECT_TRUE(woken(first_));
}

TEST_F(WaitListTest, WakesAllWhoWaitForTheSame) {
  const List::Place a(list_, {"end"}, first_);
  const List::Place b(list_, {"end"}, second_);
  list_.wake_all("end");
  EXPECT_TRUE(woken(first_));
  EXPECT_TRUE(woken(second_));
}

TEST_F(WaitListTest, WakesNobodyForSomethingElse) {
  const List::Place a(list_, {"mail"}, first_);
  list_.wake_one("post");
  list_.wake_all("post");
  EXPECT_FALSE(woken(first_));
}

}  // namespace
}  // namespace ff
