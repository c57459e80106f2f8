#include "store/embedded/commit/fault.hpp"

#include <gtest/gtest.h>

#include "store/embedded/commit/batch.hpp"

namespace ff::embedded {
namespace {

TEST(Fault, KeepsTheFirstCause) {
  Fault fault;
  EXPECT_EQ(fault.get(), nullptr);
  fault.set({Errc::store_unavailable, "disk full"});
  fault.set({Errc::store_unavailable, "something later"});
  EXPECT_EQ(fault.get()->code, Errc::store_unavailable);
  EXPECT_NE(fault.get()->message.find("disk full"), std::string::npos);
}

TEST(Announcements, TellTheFaultInsteadOfTheReply) {
  Announcements announcements;
  std::optional<Result<EndReply>> told;
  int events = 0;
  announcements.add_reply<EndReply>([&](Result<EndReply> reply) { told = reply; },
                                    EndReply{ExecutionState::completed});
  announcements.add_event(core::ExecutionChange{});
  const Error fault{Errc::store_unavailable, "disk full"};
  const auto count = [&](auto) { ++events; };
  announcements.release({.on_events = count, .on_changes = count}, &fault);
  EXPECT_EQ(told->error(), fault);
  EXPECT_EQ(events, 0);
}

}  // namespace
}  // namespace ff::embedded
