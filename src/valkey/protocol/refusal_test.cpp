#include "valkey/protocol/refusal.hpp"

#include <gmock/gmock.h>

namespace ff::valkey {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using enum Refusal::Kind;

TEST(Refusal, IsToldByTheFirstWord) {
  EXPECT_EQ(refusal_of("ERR unknown command").kind, ordinary);
  EXPECT_EQ(refusal_of("").kind, ordinary);
  EXPECT_EQ(refusal_of("BUSY a script runs").kind, not_now);
  EXPECT_EQ(refusal_of("BUSYGROUP it exists").kind, ordinary);
  EXPECT_EQ(refusal_of("LOADING").kind, not_now);
  EXPECT_EQ(refusal_of("READONLY You can't write against a read only replica.").kind, not_primary);
  EXPECT_EQ(refusal_of("NOAUTH Authentication required.").kind, unauthenticated);
  EXPECT_EQ(refusal_of("NOPERM no").kind, permission_denied);
}

TEST(Refusal, ARedirectionNamesSlotAndNode) {
  const auto moved = refusal_of("MOVED 3999 127.0.0.1:6381");
  EXPECT_EQ(moved.kind, Refusal::Kind::moved);
  EXPECT_EQ(moved.slot, 3999);
  EXPECT_EQ(moved.node, (TcpEndpoint{"127.0.0.1", 6381}));
  EXPECT_EQ(refusal_of("ASK 1 ::1:7000").node, (TcpEndpoint{"::1", 7000}));
  EXPECT_EQ(refusal_of("MOVED 1 :7000").node, (TcpEndpoint{"", 7000}));
}

TEST(Refusal, AMalformedRedirectionIsNone) {
  for (const char* text : {"MOVED", "MOVED 1", "MOVED x 1.2.3.4:5", "MOVED 16384 1.2.3.4:5",
                           "ASK 1 1.2.3.4", "ASK 1 1.2.3.4:99999", "ASK 1 1.2.3.4:"})
    EXPECT_EQ(refusal_of(text).kind, ordinary) << text;
}

TEST(Refusal, AdviceDoesNotTellThePassword) {
  ClientOptions options;
  options.password = "s3cret";
  const Endpoint endpoint = TcpEndpoint{"::1", 7};
  EXPECT_THAT(to_advice(options, endpoint), Not(HasSubstr("s3cret")));
  EXPECT_THAT(to_advice(options, endpoint), HasSubstr("[::1]:7"));
}

}  // namespace
}  // namespace ff::valkey
