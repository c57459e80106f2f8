#include "engine/breaking_store.hpp"
#include "tests/support/log_capture.hpp"

namespace ff {
namespace {

constexpr const char* coffee = "c0ffee00c0ffee00c0ffee00c0ffee00";
constexpr const char* decade = "decade00decade00decade00decade00";

class SecretOperations : public OnABreakingStore {
 protected:
  SecretOperations() {
    temp_.emplace();
    open();
  }
  static RotateWaitpointSecret to(const char* kid) {
    return {.new_kid = must(KeyId::parse(kid)), .new_secret = must(WaitpointSecret::parse(coffee))};
  }
};

TEST_F(SecretOperations, OneRotationRunsAtATime) {
  store_->hold_replies<core::RotateKeyRing>();
  auto first = test::start(*engine_, to("k2"));
  test::await("the rotation to begin", [this] { return store_->held() == 1; });
  EXPECT_EQ(run(to("k3")).error().code, Errc::rotation_in_progress);
  store_->let_go();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(run(to("k3")));
}

TEST_F(SecretOperations, FailedRotationLetsTheNextOneBegin) {
  store_->break_all<core::RotateKeyRing>();
  EXPECT_EQ(run(to("k2")).error().code, Errc::store_unavailable);
  store_->mend();
  EXPECT_TRUE(run(to("k2")));
}

TEST_F(SecretOperations, AuditTellsOfARotationWithoutItsSecret) {
  const test::LogCapture log(LogLevel::info);
  must(run(to("k2")));
  EXPECT_EQ(log.text(),
            "info audit waitpoint_hmac_rotation_complete new_kid=k2 total_partitions=1 rotated=1 "
            "failed_count=0 in_progress_count=0\n");
  EXPECT_FALSE(run(RotateWaitpointSecret{.new_kid = must(KeyId::parse("k2")),
                                         .new_secret = must(WaitpointSecret::parse(decade))}));
  EXPECT_NE(log.text().find("warning audit waitpoint_hmac_rotation_failed new_kid=k2"),
            std::string::npos);
  for (const char* secret : {coffee, decade})
    EXPECT_EQ(log.text().find(secret), std::string::npos) << secret;
}

}  // namespace
}  // namespace ff
