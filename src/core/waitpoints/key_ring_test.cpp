#include "core/waitpoints/key_ring.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/values.hpp"

namespace ff::core {
namespace {

using namespace std::chrono_literals;
using test::t0;

KeyId kid(const char* text) { return *KeyId::parse(text); }
WaitpointSecret secret(std::string_view hex) { return *WaitpointSecret::parse(hex); }

Rotation to(const char* id, std::string_view hex, Millis grace = 1h) {
  return {.kid = kid(id), .secret = secret(hex), .grace = grace};
}

KeyRing ring_of(const char* id, std::string_view hex) {
  return {.current = kid(id), .keys = {{kid(id), {.secret = secret(hex)}}}};
}

// "k2=bb*, k1=aa until +3600000": the current one has a star; times are counted from t0.
std::string text(const KeyRing& ring) {
  std::string all;
  for (const auto& [id, key] : ring.keys) {
    all += fmt::format("{}{}={}{}", all.empty() ? "" : ", ", id.str(), key.secret.to_hex(),
                       ring.current == id ? "*" : "");
    if (key.expires_at) all += fmt::format(" until +{}", (*key.expires_at - t0).count());
  }
  return all;
}

TEST(WaitpointSecret, ComparesByItsBytes) {
  EXPECT_EQ(secret("aAbB"), secret("AabB"));
  EXPECT_NE(secret("aa"), secret("aa00"));
  EXPECT_EQ(secret("DEADBEEF").to_hex(), "deadbeef");
}

TEST(WaitpointSecret, RefusesOtherTextsWithoutRepeatingThem) {
  for (const std::string bad : {"", "a", "abc", "hunter2secret!", "0x12", " aa"}) {
    const auto parsed = WaitpointSecret::parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, Errc::invalid_secret_hex);
    EXPECT_EQ(parsed.error().message.find("hunter2"), std::string::npos);
  }
  EXPECT_TRUE(WaitpointSecret::parse(std::string(2048, 'a')));
  EXPECT_FALSE(WaitpointSecret::parse(std::string(2050, 'a')));
}

TEST(KeyRing, InstallMakesTheFirstKey) {
  KeyRing ring;
  EXPECT_EQ(install(ring, secret("aa")), RingInstall::installed);
  EXPECT_EQ(text(ring), "k1=aa*");
  EXPECT_EQ(install(ring, secret("AA")), RingInstall::matched);
  EXPECT_EQ(install(ring, secret("bb")), RingInstall::mismatched);
  EXPECT_EQ(text(ring), "k1=aa*");
}

TEST(KeyRing, InstallRepairsOnlyTheFirstKey) {
  KeyRing first{.current = kid("k1")};
  EXPECT_EQ(install(first, secret("aa")), RingInstall::repaired);
  EXPECT_EQ(text(first), "k1=aa*");
  KeyRing rotated{.current = kid("k2")};
  EXPECT_EQ(install(rotated, secret("aa")), RingInstall::mismatched);
  EXPECT_EQ(text(rotated), "");
}

TEST(KeyRing, InstallAfterARotationChangesNothing) {
  auto ring = ring_of("k1", "aa");
  ASSERT_TRUE(rotate(ring, to("k2", "bb"), t0));
  EXPECT_EQ(install(ring, secret("aa")), RingInstall::mismatched);
  EXPECT_EQ(install(ring, secret("bb")), RingInstall::matched);
  EXPECT_EQ(text(ring), "k1=aa until +3600000, k2=bb*");
}

TEST(KeyRing, RotationOfAnEmptyRingInstallsTheKey) {
  KeyRing ring;
  ASSERT_TRUE(rotate(ring, to("2026-q1", "aa"), t0));
  EXPECT_EQ(text(ring), "2026-q1=aa*");
}

TEST(KeyRing, RotationKeepsTheKeyBeforeForTheGracePeriod) {
  auto ring = ring_of("k1", "aa");
  ASSERT_TRUE(rotate(ring, to("k2", "bb"), t0));
  EXPECT_TRUE(is_valid(ring, kid("k1"), t0 + 1h));
  EXPECT_FALSE(is_valid(ring, kid("k1"), t0 + 1h + 1ms));
  EXPECT_TRUE(is_valid(ring, kid("k2"), t0 + 1000h));
  EXPECT_FALSE(is_valid(ring, kid("k3"), t0));
}

TEST(KeyRing, RotationToTheCurrentKeyChangesNothing) {
  auto ring = ring_of("k1", "aa");
  ASSERT_TRUE(rotate(ring, to("k2", "bb"), t0));
  const auto before = ring;
  ASSERT_TRUE(rotate(ring, to("k2", "BB"), t0 + 1h));
  EXPECT_EQ(ring, before);
}

TEST(KeyRing, RotationRestoresALostCurrentSecret) {
  KeyRing ring{.current = kid("k2")};
  ASSERT_TRUE(rotate(ring, to("k2", "bb"), t0));
  EXPECT_EQ(text(ring), "k2=bb*");
}

TEST(KeyRing, RotationRefusesAnotherSecretUnderAKidInUse) {
  auto ring = ring_of("k1", "aa");
  ASSERT_TRUE(rotate(ring, to("k2", "bb"), t0));
  const auto before = ring;
  for (const char* id : {"k1", "k2"}) {
    const auto refused = rotate(ring, to(id, "cc"), t0 + 1h);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::rotation_conflict);
    EXPECT_EQ(ring, before);
  }
}

TEST(KeyRing, RotationBackToAKidInGraceClearsItsExpiry) {
  auto ring = ring_of("a", "aa");
  ASSERT_TRUE(rotate(ring, to("b", "bb"), t0));
  ASSERT_TRUE(rotate(ring, to("a", "aa"), t0 + 30min));
  EXPECT_EQ(text(ring), "a=aa*, b=bb until +5400000");
  // When the old expiry of `a` has passed, the next rotation still gives it its grace period.
  ASSERT_TRUE(rotate(ring, to("c", "cc"), t0 + 5h));
  EXPECT_EQ(text(ring), "a=aa until +21600000, c=cc*");
}

TEST(KeyRing, RotationForgetsOnlyKeysThatAreNoLongerValid) {
  auto ring = ring_of("a", "aa");
  ASSERT_TRUE(rotate(ring, to("b", "bb"), t0));
  auto later = ring;
  ASSERT_TRUE(rotate(ring, to("c", "cc"), t0 + 1h));
  EXPECT_EQ(text(ring), "a=aa until +3600000, b=bb until +7200000, c=cc*");
  ASSERT_TRUE(rotate(later, to("c", "cc"), t0 + 1h + 1ms));
  EXPECT_EQ(text(later), "b=bb until +7200001, c=cc*");
}

TEST(KeyRing, ShorterGraceAlsoHoldsForKeysOfEarlierRotations) {
  auto ring = ring_of("a", "aa");
  ASSERT_TRUE(rotate(ring, to("b", "bb", 24h), t0));
  ASSERT_TRUE(rotate(ring, to("c", "cc", 1s), t0));
  EXPECT_EQ(text(ring), "a=aa until +1000, b=bb until +1000, c=cc*");
}

TEST(KeyRing, AnExpiredKidMayBeUsedAgainForAnotherSecret) {
  auto ring = ring_of("a", "aa");
  ASSERT_TRUE(rotate(ring, to("b", "bb", 0ms), t0));
  ASSERT_TRUE(rotate(ring, to("a", "cc", 0ms), t0 + 1ms));
  EXPECT_EQ(text(ring), "a=cc*, b=bb until +1");
}

TEST(KeyRing, ListShowsTheCurrentKeyFirstAndNoSecret) {
  auto ring = ring_of("a", "aa");
  ASSERT_TRUE(rotate(ring, to("b", "bb"), t0));
  const auto list = list_keys(ring, t0 + 1h);
  ASSERT_EQ(list.keys.size(), 2u);
  EXPECT_EQ(list.keys[0], (WaitpointKeyInfo{.kid = kid("b"), .current = true}));
  EXPECT_EQ(list.keys[1], (WaitpointKeyInfo{.kid = kid("a"), .expires_at = t0 + 1h}));
  EXPECT_EQ(list_keys(ring, t0 + 1h + 1ms).keys.size(), 1u);
  EXPECT_EQ(list_keys({}, t0).keys.size(), 0u);
}

}  // namespace
}  // namespace ff::core
