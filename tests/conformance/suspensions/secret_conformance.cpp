#include "tests/conformance/conformance.hpp"

namespace ff::conformance {
namespace {

class Secrets : public Conformance {
 protected:
  static KeyId kid(const char* text) { return must(KeyId::parse(text)); }
  // The digits are repeated until they are enough.
  static RotateWaitpointSecret to(const char* id, std::string_view hex) {
    std::string secret;
    while (secret.size() < 2 * limits::waitpoint_secret_bytes_min) secret += hex;
    return {.new_kid = kid(id), .new_secret = must(WaitpointSecret::parse(secret))};
  }
  void rotate(const char* id, const char* hex) {
    const auto reply = must(run(to(id, hex)));
    EXPECT_EQ(reply.new_kid, kid(id));
    EXPECT_GE(reply.rotated, 1u);
    EXPECT_TRUE(reply.failed.empty());
    EXPECT_TRUE(reply.in_progress.empty());
  }

  // "k2, k1 +86400000": the current one first, the others with the time for which they are valid.
  std::string keys() {
    std::string all;
    for (const auto& key : must(run(ListWaitpointKeys{})).keys) {
      EXPECT_EQ(key.current, all.empty());
      all += (all.empty() ? "" : ", ") + key.kid.str();
      if (key.expires_at) all += fmt::format(" +{}", (*key.expires_at - now()).count());
    }
    return all;
  }
};

TEST_P(Secrets, StoreBeginsWithOne) {
  EXPECT_EQ(keys(), "k1");
  home_->restart();
  EXPECT_EQ(keys(), "k1");
}

TEST_P(Secrets, RotationKeepsTheOneBeforeForADay) {
  rotate("k2", "aabb");
  EXPECT_EQ(keys(), "k2, k1 +86400000");
  advance(24h);
  EXPECT_EQ(keys(), "k2, k1 +0");
  advance(1ms);
  EXPECT_EQ(keys(), "k2");
}

TEST_P(Secrets, ShortOnesAreRefused) {
  const std::string hex(2 * (limits::waitpoint_secret_bytes_min - 1), 'a');
  const auto refused =
      run(RotateWaitpointSecret{.new_kid = kid("k2"), .new_secret = *WaitpointSecret::parse(hex)});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_secret_hex);
  EXPECT_THAT(refused.error().message,
              ::testing::StartsWith("new_secret_hex must have at least 16 bytes"));
}

TEST_P(Secrets, RotationOutlivesARestart) {
  rotate("2026-q1", "aabb");
  home_->restart();
  EXPECT_EQ(keys(), "2026-q1, k1 +86400000");
}

TEST_P(Secrets, SeveralAreValidAtATime) {
  rotate("k2", "aa");
  advance(1h);
  rotate("k3", "bb");
  EXPECT_EQ(keys(), "k3, k1 +82800000, k2 +86400000");
}

TEST_P(Secrets, RepeatedRotationChangesNothing) {
  rotate("k2", "aabb");
  advance(1h);
  rotate("k2", "AABB");
  EXPECT_EQ(keys(), "k2, k1 +82800000");
}

TEST_P(Secrets, RotationBackToOneInGraceMakesItCurrentForGood) {
  rotate("a", "aa");
  rotate("b", "bb");
  advance(1h);
  rotate("a", "aa");
  EXPECT_EQ(keys(), "a, b +86400000, k1 +82800000");
  advance(48h);
  rotate("c", "cc");
  EXPECT_EQ(keys(), "c, a +86400000");
}

TEST_P(Secrets, KidOfAValidSecretIsNotGivenToAnother) {
  rotate("k2", "aa");
  EXPECT_EQ(error_of(to("k2", "bb")), Errc::rotation_conflict);
  EXPECT_EQ(error_of(to("k1", "bb")), Errc::rotation_conflict);
  advance(24h);
  EXPECT_EQ(error_of(to("k1", "bb")), Errc::rotation_conflict);
  advance(1ms);
  rotate("k1", "bb");
  EXPECT_EQ(keys(), "k1, k2 +86400000");
}

TEST_P(Secrets, RotationNeedsAKidAndASecret) {
  auto without_kid = to("k2", "aa");
  without_kid.new_kid = {};
  EXPECT_EQ(error_of(without_kid), Errc::invalid_kid);
  auto without_secret = to("k2", "aa");
  without_secret.new_secret = {};
  EXPECT_EQ(error_of(without_secret), Errc::invalid_secret_hex);
  EXPECT_EQ(keys(), "k1");
}

INSTANTIATE_TEST_SUITE_P(, Secrets, ::testing::ValuesIn(home_kinds()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ff::conformance
