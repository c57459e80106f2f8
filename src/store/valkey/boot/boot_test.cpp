#include "store/valkey/boot/boot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ff::valkey_store {
namespace {

using ::testing::HasSubstr;

std::string refusal_of_server(const std::string& info) {
  const auto checked = check_version(info);
  if (checked) return "";
  EXPECT_EQ(checked.error().code, Errc::store_too_old);
  return checked.error().message;
}

TEST(Boot, TakesValkeyFromVersion8On) {
  EXPECT_EQ(refusal_of_server("# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.0.1\r\n"), "");
  EXPECT_EQ(refusal_of_server("# Server\nvalkey_version:10.1.0\n"), "");
}

TEST(Boot, RefusesAnOlderOneAndSaysWhichItWants) {
  const auto refusal = refusal_of_server("# Server\r\nvalkey_version:7.2.5\r\n");
  EXPECT_THAT(refusal, HasSubstr("7.2.5"));
  EXPECT_THAT(refusal, HasSubstr("8.0"));
}

TEST(Boot, RefusesWhatIsNotValkey) {
  EXPECT_THAT(refusal_of_server("# Server\r\nredis_version:7.4.0\r\n"), HasSubstr("not Valkey"));
  EXPECT_THAT(refusal_of_server("# Server\r\nvalkey_version:new\r\n"), HasSubstr("too low"));
}

}  // namespace
}  // namespace ff::valkey_store
