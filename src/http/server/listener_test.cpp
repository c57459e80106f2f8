#include "http/server/listener.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Listener, TakesAFreePort) {
  EXPECT_THAT(Listener::bind("127.0.0.1:0")->address(), StartsWith("127.0.0.1:"));
  EXPECT_THAT(Listener::bind("127.0.0.2:0")->address(), StartsWith("127.0.0.2:"));
}

TEST(Listener, RefusesAPortInUse) {
  const auto first = Listener::bind("127.0.0.1:0");
  const auto second = Listener::bind(first->address());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::address_in_use);
}

TEST(Listener, ListensBeyondLoopbackOnlyIfToldTo) {
  EXPECT_FALSE(Listener::bind("0.0.0.0:0"));
  EXPECT_TRUE(Listener::bind("0.0.0.0:0", Reach::anywhere));
}

TEST(Listener, SaysWhatIsWrongWithAnAddress) {
  const auto refusal = [](const char* address) {
    const auto listener = Listener::bind(address);
    return listener ? "" : listener.error().message;
  };
  for (const char* address : {"0.0.0.0:0", "192.0.2.1:0", "[::]:0"})
    EXPECT_THAT(refusal(address), HasSubstr("only loopback")) << address;
  for (const char* address : {":9090", "localhost:0", "1.2.3:0"})
    EXPECT_THAT(refusal(address), HasSubstr("must be an IP address")) << address;
  for (const char* address : {"127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "127.0.0.1:-1"})
    EXPECT_THAT(refusal(address), HasSubstr("from 0 to 65535")) << address;
  for (const char* address : {"", "127.0.0.1"})
    EXPECT_THAT(refusal(address), HasSubstr("IP:PORT")) << address;
}

}  // namespace
}  // namespace ff::http
