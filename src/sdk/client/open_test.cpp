#include <flowfabric/flowfabric.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff {
namespace {

TEST(Open, NamesWhatItCannotOpen) {
  for (const char* url : {"", "embedded:", "redis://x", "ftp://x", "http://", "https://",
                          "http://x/path", "http://u:p@x"}) {
    const auto engine = open(url);
    ASSERT_FALSE(engine) << url;
    EXPECT_EQ(engine.error().code, Errc::invalid_input) << url;
  }
}

TEST(Open, OfAServerThatIsNotThereFailsAtTheFirstCall) {
  const auto engine = must(open("http://127.0.0.1:1"));
  const auto reply = Client(*engine).submit({.kind = "k"});
  EXPECT_EQ(reply.error().code, Errc::unreachable);
  EXPECT_THAT(reply.error().message, ::testing::HasSubstr("127.0.0.1:1"));
}

}  // namespace
}  // namespace ff
