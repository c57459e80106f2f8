#include "engine/events/wait_list.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "base/async/runtime.hpp"
#include "engine/events/work_waiters.hpp"

namespace ff {
namespace {

bool woken(Runtime& runtime, Wakeup& wakeup) {
  return asio::co_spawn(runtime.executor(), wakeup.wait_until(std::chrono::steady_clock::now()),
                        asio::use_future)
      .get();
}

TEST(WaitList, WakesAllWhoWaitForTheSame) {
  Runtime runtime{1};
  Wakeup first{runtime.executor()}, second{runtime.executor()}, other{runtime.executor()};
  WaitList<std::string> list;
  const WaitList<std::string>::Waiter a(list, "end", first), b(list, "end", second),
      c(list, "another", other);
  list.wake_all("end");
  EXPECT_TRUE(woken(runtime, first));
  EXPECT_TRUE(woken(runtime, second));
  EXPECT_FALSE(woken(runtime, other));
}

struct Wanted {
  CapabilitySet capabilities = {};
  std::vector<Kind> kinds = {};
};

class WorkWaitersTest : public ::testing::Test {
 protected:
  using Waiter = WorkWaiters::Waiter;

  std::unique_ptr<Waiter> wait(std::initializer_list<const char*> lanes, Wakeup& wakeup,
                               Wanted wanted = {}) {
    auto& claim = claims_.emplace_back(Claim{.worker = {},
                                             .lanes = {},
                                             .capabilities = std::move(wanted.capabilities),
                                             .kinds = std::move(wanted.kinds)});
    for (const auto* lane : lanes) claim.lanes.push_back(*LaneId::parse(lane));
    return std::make_unique<Waiter>(list_, claim, wakeup);
  }
  bool offer(const char* lane, CapabilitySet required = {}, std::optional<Kind> kind = Kind{}) {
    return list_.offer({.ns = default_namespace(),
                        .lane = *LaneId::parse(lane),
                        .kind = std::move(kind),
                        .id = {},
                        .required = std::move(required)});
  }
  static Kind kind(const char* name) { return *Kind::parse(name); }
  bool first_woken() { return woken(runtime_, first_); }
  bool second_woken() { return woken(runtime_, second_); }

  const CapabilitySet gpu_ = *CapabilitySet::parse({"gpu"});
  Runtime runtime_{1};
  std::list<Claim> claims_;
  WorkWaiters list_;
  Wakeup first_{runtime_.executor()};
  Wakeup second_{runtime_.executor()};
  Wakeup third_{runtime_.executor()};
};

TEST_F(WorkWaitersTest, AnOfferWakesOneTheLongestWaiting) {
  const auto a = wait({"mail"}, first_), b = wait({"mail"}, second_);
  offer("mail");
  EXPECT_TRUE(first_woken());
  EXPECT_FALSE(second_woken());
}

TEST_F(WorkWaitersTest, ASecondOfferWakesTheNext) {
  const auto a = wait({"mail"}, first_), b = wait({"mail"}, second_);
  offer("mail");
  offer("mail");
  EXPECT_TRUE(first_woken());
  EXPECT_TRUE(second_woken());
}

TEST_F(WorkWaitersTest, AnOfferPassesOverThoseWhoCannotRunIt) {
  const auto a = wait({"mail"}, first_), b = wait({"mail"}, second_, {.capabilities = gpu_});
  offer("mail", gpu_);
  EXPECT_FALSE(first_woken());
  EXPECT_TRUE(second_woken());
}

TEST_F(WorkWaitersTest, AnOfferPassesOverThoseWhoTakeOtherKinds) {
  const auto a = wait({"mail"}, first_, {.kinds = {kind("a")}});
  const auto b = wait({"mail"}, second_, {.kinds = {kind("b"), kind("c")}});
  EXPECT_FALSE(offer("mail", {}, kind("d")));
  EXPECT_TRUE(offer("mail", {}, kind("c")));
  EXPECT_FALSE(first_woken());
  EXPECT_TRUE(second_woken());
}

TEST_F(WorkWaitersTest, TheLongestWaitingGetsAnOfferWhetherItNamesKindsOrNot) {
  auto names_it = wait({"mail"}, first_, {.kinds = {kind("a")}});
  auto takes_all = wait({"mail"}, second_);
  offer("mail", {}, kind("a"));
  EXPECT_TRUE(first_woken());
  EXPECT_FALSE(second_woken());
  names_it->accept();
  names_it.reset();
  names_it = wait({"mail"}, third_, {.kinds = {kind("a")}});
  offer("mail", {}, kind("a"));
  EXPECT_TRUE(second_woken());
  EXPECT_FALSE(woken(runtime_, third_));
}

TEST_F(WorkWaitersTest, AnOfferThatWasNotAcceptedGoesToTheNextThatTakesItsKind) {
  auto a = wait({"mail"}, first_, {.kinds = {kind("a")}});
  const auto other = wait({"mail"}, third_, {.kinds = {kind("b")}});
  const auto any = wait({"mail"}, second_);
  offer("mail", {}, kind("a"));
  a.reset();
  EXPECT_FALSE(woken(runtime_, third_));
  EXPECT_TRUE(second_woken());
}

TEST_F(WorkWaitersTest, AnOfferOfUnknownKindWakesAllWhoCanRunIt) {
  const auto a = wait({"mail"}, first_, {.kinds = {kind("a")}});
  const auto b = wait({"mail"}, second_, {.kinds = {kind("b")}});
  EXPECT_TRUE(offer("mail", {}, std::nullopt));
  EXPECT_TRUE(first_woken());
  EXPECT_TRUE(second_woken());
}

TEST_F(WorkWaitersTest, AnOfferThatWasNotAcceptedGoesToTheNext) {
  auto a = wait({"mail"}, first_);
  const auto b = wait({"mail"}, second_);
  offer("mail");
  a.reset();
  EXPECT_TRUE(second_woken());
}

TEST_F(WorkWaitersTest, AnAcceptedOfferIsNotPassedOn) {
  auto a = wait({"mail"}, first_);
  const auto b = wait({"mail"}, second_);
  offer("mail");
  EXPECT_EQ(a->accept()->lane.str(), "mail");
  a.reset();
  EXPECT_FALSE(second_woken());
}

TEST_F(WorkWaitersTest, WaitsForSeveralLanesAtOnceAndNoOther) {
  const auto a = wait({"mail", "post"}, first_);
  offer("parcels");
  EXPECT_FALSE(first_woken());
  offer("post");
  EXPECT_TRUE(first_woken());
}

}  // namespace
}  // namespace ff
