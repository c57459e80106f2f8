#include "store/valkey/caches/echoes.hpp"

#include <gtest/gtest.h>

namespace ff::valkey {
namespace {

EventMessage message_of(std::string origin) {
  return {.origin = std::move(origin), .happening = {}, .indexed = {}};
}

TEST(Echoes, WhatOthersDidIsNews) {
  Echoes echoes("me");
  EXPECT_TRUE(echoes.hear(message_of("other.1")));
  EXPECT_TRUE(echoes.hear(message_of("")));
  EXPECT_TRUE(echoes.hear(message_of("meandyou.1")));
}

TEST(Echoes, WhatOthersFreedTheyGiveBackThemselves) {
  Echoes echoes("me");
  const auto freed = [](EventMessage message) {
    message.happening.freed = core::Happening::Freed{};
    return message;
  };
  EXPECT_FALSE(echoes.hear(freed(message_of("other.1")))->happening.freed);
  const auto lost = echoes.begin();
  echoes.end(lost, false);
  EXPECT_TRUE(echoes.hear(freed(message_of(echoes.origin_of(lost))))->happening.freed);
}

TEST(Echoes, WhatAReplyToldIsNot) {
  Echoes echoes("me");
  const auto early = echoes.begin();
  EXPECT_FALSE(echoes.hear(message_of(echoes.origin_of(early))));
  EXPECT_FALSE(echoes.end(early, true));
  const auto late = echoes.begin();
  EXPECT_FALSE(echoes.end(late, true));
  EXPECT_FALSE(echoes.hear(message_of(echoes.origin_of(late))));
}

TEST(Echoes, WhatNoReplyToldIsNewsOnce) {
  Echoes echoes("me");
  const auto early = echoes.begin();
  EXPECT_FALSE(echoes.hear(message_of(echoes.origin_of(early))));
  EXPECT_TRUE(echoes.end(early, false));
  EXPECT_FALSE(echoes.hear(message_of(echoes.origin_of(early))));
  const auto late = echoes.begin();
  EXPECT_FALSE(echoes.end(late, false));
  EXPECT_TRUE(echoes.hear(message_of(echoes.origin_of(late))));
  EXPECT_FALSE(echoes.hear(message_of(echoes.origin_of(late))));
}

}  // namespace
}  // namespace ff::valkey
