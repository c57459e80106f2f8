#include "store/valkey/caches/own_event_filter.hpp"

#include <gtest/gtest.h>

namespace ff::valkey {
namespace {

EventMessage message_of(std::string origin) {
  return {.origin = std::move(origin), .change = {}, .indexed = {}};
}

TEST(OwnEventFilter, EventsOfOtherProcessesPass) {
  OwnEventFilter own_events("me");
  EXPECT_TRUE(own_events.hear(message_of("other.1")));
  EXPECT_TRUE(own_events.hear(message_of("")));
  EXPECT_TRUE(own_events.hear(message_of("meandyou.1")));
}

TEST(OwnEventFilter, EffectsOfOtherProcessesAreDropped) {
  OwnEventFilter own_events("me");
  const auto with_effect = [](EventMessage message) {
    message.change.effects = {core::ReleaseToken{}};
    return message;
  };
  EXPECT_TRUE(own_events.hear(with_effect(message_of("other.1")))->change.effects.empty());
  EXPECT_FALSE(own_events.hear(with_effect(message_of("")))->change.effects.empty());
  const auto lost = own_events.begin();
  own_events.end(lost, false);
  EXPECT_FALSE(
      own_events.hear(with_effect(message_of(own_events.origin_of(lost))))->change.effects.empty());
}

TEST(OwnEventFilter, EchoOfARepliedEventIsDropped) {
  OwnEventFilter own_events("me");
  const auto early = own_events.begin();
  EXPECT_FALSE(own_events.hear(message_of(own_events.origin_of(early))));
  EXPECT_FALSE(own_events.end(early, true));
  const auto late = own_events.begin();
  EXPECT_FALSE(own_events.end(late, true));
  EXPECT_FALSE(own_events.hear(message_of(own_events.origin_of(late))));
}

TEST(OwnEventFilter, EchoOfAnUnrepliedEventPassesOnce) {
  OwnEventFilter own_events("me");
  const auto early = own_events.begin();
  EXPECT_FALSE(own_events.hear(message_of(own_events.origin_of(early))));
  EXPECT_TRUE(own_events.end(early, false));
  EXPECT_FALSE(own_events.hear(message_of(own_events.origin_of(early))));
  const auto late = own_events.begin();
  EXPECT_FALSE(own_events.end(late, false));
  EXPECT_TRUE(own_events.hear(message_of(own_events.origin_of(late))));
  EXPECT_FALSE(own_events.hear(message_of(own_events.origin_of(late))));
}

}  // namespace
}  // namespace ff::valkey
