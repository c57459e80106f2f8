#include "store/embedded/resources/stored_key_ring.hpp"

#include "store/embedded/resources/test_support.hpp"
#include "tests/support/log_capture.hpp"

namespace ff::embedded {
namespace {

WaitpointSecret secret_of(std::string_view hex) { return *WaitpointSecret::parse(hex); }

class StoredKeyRingTest : public DeskTest {
 protected:
  core::KeyRing ring() { return must(run(core::ReadKeyRing{})); }
  std::string signing() { return ring().signing()->to_hex(); }
  Result<RotateSecretReply> rotate(const char* kid, std::string_view hex) {
    return run(
        core::RotateKeyRing{{.kid = *KeyId::parse(kid), .secret = secret_of(hex), .grace = 1h}});
  }
  store::Store& open_with(std::string_view hex) {
    auto configured = options();
    configured.waitpoint_secret = secret_of(hex);
    return open(configured);
  }
};

TEST_F(StoredKeyRingTest, RandomSecretIsMadeOnceAndKept) {
  open();
  const auto first = ring();
  EXPECT_EQ(first.current, core::first_kid());
  EXPECT_EQ(first.signing()->bytes().size(), 32u);
  EXPECT_EQ(ring(), first);
  open();
  EXPECT_EQ(ring(), first);
}

TEST_F(StoredKeyRingTest, ConfiguredSecretIsTheFirst) {
  open_with("aabb");
  EXPECT_EQ(signing(), "aabb");
  open();
  EXPECT_EQ(signing(), "aabb") << "without the setting, the stored one stays";
}

TEST_F(StoredKeyRingTest, StoredSecretWinsOverAnotherConfiguredOne) {
  open_with("aabb");
  ring();
  const test::LogCapture log;
  open_with("AABB");
  EXPECT_EQ(log.text().find("FF_WAITPOINT_HMAC_SECRET"), std::string::npos);
  open_with("ccdd");
  EXPECT_EQ(signing(), "aabb");
  EXPECT_NE(log.text().find("FF_WAITPOINT_HMAC_SECRET"), std::string::npos);
  EXPECT_EQ(log.text().find("ccdd"), std::string::npos) << "no secret is logged";
}

TEST_F(StoredKeyRingTest, RotationOutlivesAPowerCut) {
  open_on_disk();
  ring();
  must(rotate("k2", "bb"));
  cut_power();
  open_on_disk();
  EXPECT_EQ(signing(), "bb");
  EXPECT_EQ(ring().keys.size(), 2u);
}

TEST_F(StoredKeyRingTest, RotationByTheStoresClock) {
  open_with("aa");
  must(rotate("k2", "bb"));
  EXPECT_EQ(ring().keys.at(core::first_kid()).expires_at, clock_->now() + 1h);
  clock_->advance(1h);
  EXPECT_EQ(rotate("k1", "cc").error().code, Errc::rotation_conflict);
  clock_->advance(1ms);
  must(rotate("k1", "cc"));
  EXPECT_EQ(signing(), "cc");
}

TEST_F(StoredKeyRingTest, RepeatedRotationAnswersAsTheFirstTime) {
  open();
  const auto reply = must(rotate("k2", "bb"));
  EXPECT_EQ(reply, (RotateSecretReply{.rotated = 1, .new_kid = *KeyId::parse("k2")}));
  const auto before = ring();
  clock_->advance(1h);
  EXPECT_EQ(must(rotate("k2", "bb")), reply);
  EXPECT_EQ(ring(), before);
}

}  // namespace
}  // namespace ff::embedded
