#include "engine/events/work_waiters.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

namespace ff {
namespace {

Claim claim_of(const char* worker) { return {.worker = *WorkerId::parse(worker)}; }
Offer offer_of(std::optional<WorkerId> preferred) {
  return {.ns = default_namespace(),
          .lane = default_lane(),
          .kind = *Kind::parse("k"),
          .id = {},
          .required = {},
          .preferred = std::move(preferred)};
}

TEST(WorkWaiters, OfferWakesThePreferredWorkersClaimElseTheLongestWaiting) {
  asio::io_context io;
  Wakeup wakeup(io.get_executor());
  WorkWaiters list;
  const auto first_claim = claim_of("w1");
  const auto second_claim = claim_of("w2");
  WorkWaiters::Waiter first(list, first_claim, wakeup);
  WorkWaiters::Waiter second(list, second_claim, wakeup);
  EXPECT_TRUE(list.offer(offer_of(second_claim.worker)));
  EXPECT_FALSE(first.accept());
  EXPECT_TRUE(second.accept());
  EXPECT_TRUE(list.offer(offer_of(*WorkerId::parse("gone"))));
  EXPECT_TRUE(first.accept());
}

}  // namespace
}  // namespace ff
