#include "store/valkey/caches/own_event_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "base/async/runtime.hpp"

namespace ff::valkey_store {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using Told = OwnEventFilter::Told;

std::vector<EventMessage> changes_of(const std::string& origin, std::size_t count = 1) {
  return std::vector<EventMessage>(count, {.origin = origin, .change = {}, .indexed = {}});
}

TEST(OwnEventFilter, EventsOfOtherProcessesPass) {
  OwnEventFilter own_events("me");
  EXPECT_THAT(own_events.hear(changes_of("other.1")), SizeIs(1));
  EXPECT_THAT(own_events.hear(changes_of("")), SizeIs(1));
  EXPECT_THAT(own_events.hear(changes_of("meandyou.1")), SizeIs(1));
}

TEST(OwnEventFilter, EffectsOfOtherProcessesAreDropped) {
  OwnEventFilter own_events("me");
  const auto has_effects = [&](const std::string& origin) {
    auto changes = changes_of(origin);
    changes.front().change.effects = {core::ReleaseToken{}};
    return !own_events.hear(changes).at(0).change.effects.empty();
  };
  EXPECT_FALSE(has_effects("other.1"));
  EXPECT_TRUE(has_effects(""));
  const auto lost = own_events.begin();
  own_events.end(lost, Told::unknown);
  EXPECT_TRUE(has_effects(own_events.origin_of(lost)));
}

TEST(OwnEventFilter, AllChangesOfACallPassTogether) {
  OwnEventFilter own_events("me");
  const auto early = own_events.begin();
  EXPECT_THAT(own_events.hear(changes_of(own_events.origin_of(early), 3)), IsEmpty());
  EXPECT_THAT(own_events.end(early, Told::unknown), SizeIs(3));
  const auto late = own_events.begin();
  EXPECT_THAT(own_events.end(late, Told::unknown), IsEmpty());
  EXPECT_THAT(own_events.hear(changes_of(own_events.origin_of(late), 3)), SizeIs(3));
}

TEST(OwnEventFilter, EchoOfARepliedEventIsDropped) {
  OwnEventFilter own_events("me");
  const auto early = own_events.begin();
  EXPECT_THAT(own_events.hear(changes_of(own_events.origin_of(early))), IsEmpty());
  EXPECT_THAT(own_events.end(early, Told::all), IsEmpty());
  const auto late = own_events.begin();
  EXPECT_THAT(own_events.end(late, Told::all), IsEmpty());
  EXPECT_THAT(own_events.hear(changes_of(own_events.origin_of(late))), IsEmpty());
}

TEST(OwnEventFilter, CatchesUpWithWhatRepliesTold) {
  Runtime runtime(1);
  OwnEventFilter own_events("me");
  const auto caught_up = [&] {
    return asio::co_spawn(runtime.executor(), own_events.catch_up(), asio::use_future);
  };
  const auto call = own_events.begin();
  own_events.end(own_events.begin(), Told::there_are_none);
  own_events.end(own_events.begin(), Told::unknown);
  caught_up().get();
  own_events.end(call, Told::all);
  auto waiting = caught_up();
  own_events.hear(changes_of(own_events.origin_of(call)));
  waiting.get();

  own_events.end(own_events.begin(), Told::all);
  waiting = caught_up();
  own_events.note_gap();
  waiting.get();
}

TEST(OwnEventFilter, EchoOfAnUnrepliedEventPassesOnce) {
  OwnEventFilter own_events("me");
  const auto early = own_events.begin();
  EXPECT_THAT(own_events.hear(changes_of(own_events.origin_of(early))), IsEmpty());
  EXPECT_THAT(own_events.end(early, Told::unknown), SizeIs(1));
  EXPECT_THAT(own_events.hear(changes_of(own_events.origin_of(early))), IsEmpty());
  const auto late = own_events.begin();
  EXPECT_THAT(own_events.end(late, Told::unknown), IsEmpty());
  EXPECT_THAT(own_events.hear(changes_of(own_events.origin_of(late))), SizeIs(1));
  EXPECT_THAT(own_events.hear(changes_of(own_events.origin_of(late))), IsEmpty());
}

}  // namespace
}  // namespace ff::valkey_store
