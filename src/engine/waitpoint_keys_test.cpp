#include "engine/waitpoint_keys.hpp"

#include <gtest/gtest.h>

#include "base/async/runtime.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/values.hpp"

namespace ff {
namespace {

using namespace std::chrono_literals;

KeyId kid(const char* text) { return *KeyId::parse(text); }

// Answers with the ring that the test sets, and counts.
class RingStore final : public store::Store {
 public:
  void start(std::vector<store::AnyCall> calls) override {
    for (auto& any : calls)
      any.visit([this]<class Op>(store::Call<Op>& call) {
        if constexpr (std::same_as<Op, core::ReadKeyRing>) {
          ++reads;
          if (is_down)
            call.done(fail(Errc::store_unavailable, "down"));
          else
            call.done(ring);
        }
      });
  }
  void set_sinks(store::Sinks) override {}
  std::string list_cursor(TimePoint, const ExecutionId&) const override { return ""; }
  PartitionIndex partition_count() const override { return 1; }
  TimePoint now() const override { return time; }
  Result<void> health() const override { return {}; }

  core::KeyRing ring;
  int reads = 0;
  bool is_down = false;
  TimePoint time = test::t0;
};

class WaitpointKeysTest : public ::testing::Test {
 protected:
  WaitpointKeysTest() { rotate("k1", "aa"); }

  void rotate(const char* id, const char* hex) {
    const core::Rotation to{.kid = kid(id), .secret = *WaitpointSecret::parse(hex), .grace = 1h};
    must(core::rotate(store_.ring, to, store_.time));
  }
  std::string mint() { return must(test::run_blocking(runtime_.executor(), keys_.mint(claims_))); }
  Result<core::WaitpointClaims> verify(std::string token) {
    return test::run_blocking(runtime_.executor(), keys_.verify(std::move(token)));
  }

  const core::WaitpointClaims claims_{.ns = default_namespace(),
                                      .execution = test::id_of(1),
                                      .waitpoint = WaitpointId{test::id_of(2).uuid()}};
  std::chrono::steady_clock::time_point steady_{};
  RingStore store_;
  WaitpointKeys keys_{store_, [this] { return steady_; }};
  Runtime runtime_{1};
};

TEST_F(WaitpointKeysTest, VerifiesItsOwnTokensWithOneRead) {
  const auto token = mint();
  EXPECT_EQ(verify(token), claims_);
  mint();
  EXPECT_EQ(store_.reads, 1);
}

TEST_F(WaitpointKeysTest, FollowsARotationByAnotherProcessAfterSomeSeconds) {
  mint();
  rotate("k2", "bb");
  EXPECT_EQ(core::kid_of_token(mint()), kid("k1"));
  steady_ += 10s;
  EXPECT_EQ(core::kid_of_token(mint()), kid("k2"));
}

TEST_F(WaitpointKeysTest, FollowsItsOwnRotationAtOnce) {
  mint();
  rotate("k2", "bb");
  keys_.forget();
  EXPECT_EQ(core::kid_of_token(mint()), kid("k2"));
}

TEST_F(WaitpointKeysTest, UnknownKidIsLookedUpAtMostOncePerSecond) {
  mint();
  rotate("k2", "bb");
  const auto fresh = must(core::mint_token(store_.ring, claims_));
  steady_ += 1s;
  EXPECT_EQ(verify(fresh), claims_);
  EXPECT_EQ(store_.reads, 2);
  auto forged = fresh;
  forged.replace(5, 2, "k9");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(verify(forged).error().code, Errc::invalid_token);
  EXPECT_EQ(store_.reads, 2);
  EXPECT_EQ(verify("no token at all").error().code, Errc::invalid_token);
}

TEST_F(WaitpointKeysTest, ExpiresTokensByTheStoresClock) {
  const auto token = mint();
  rotate("k2", "bb");
  keys_.forget();
  store_.time += 1h;
  EXPECT_TRUE(verify(token));
  store_.time += 1ms;
  EXPECT_EQ(verify(token).error().code, Errc::token_expired);
}

TEST_F(WaitpointKeysTest, SaysSoWhenTheStoreCannotBeRead) {
  const auto token = mint();
  store_.is_down = true;
  EXPECT_TRUE(verify(token));
  steady_ += 10s;
  EXPECT_EQ(verify(token).error().code, Errc::store_unavailable);
}

}  // namespace
}  // namespace ff
