#include "http/server/access/access.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/rfc3339.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::http {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const TimePoint now = must(parse_rfc3339("2026-06-01T00:00:00Z"));
constexpr const char* secret = "a-token-of-32-visible-characters";

class AccessTest : public ::testing::Test {
 protected:
  Result<std::shared_ptr<const Access>> load(const std::string& tokens) {
    std::ofstream(file_) << tokens;
    return Access::load("", file_);
  }
  std::filesystem::path file_with(const std::string& token) {
    std::ofstream(file_) << fmt::format(
        R"({{"tokens": [{{"name": "n", "roles": ["read"], "token": "{}"}}]}})", token);
    return file_;
  }
  std::string refusal(const std::string& tokens) {
    const auto loaded = load(tokens);
    return loaded ? "" : loaded.error().message;
  }

  ff::test::TempDirectory temp_;
  std::filesystem::path file_ = temp_.path() / "tokens.json";
};

std::string who(const Access& access, const std::string& header) {
  const auto caller = access.admit(header, now);
  return caller ? caller->name : std::string(caller.error().name());
}

TEST_F(AccessTest, WithoutTokensEverybodyMayDoEverything) {
  const auto open = Access::open_to_all();
  EXPECT_TRUE(open->is_open());
  EXPECT_TRUE(must(open->admit("", now)).may(Role::admin));
}

TEST_F(AccessTest, OneTokenIsEnough) {
  const auto access = must(Access::load(secret, ""));
  EXPECT_FALSE(access->is_open());
  for (const std::string scheme : {"Bearer ", "bearer ", "BEARER "})
    EXPECT_EQ(who(*access, scheme + secret), "admin");
  for (const std::string header :
       {"", "Bearer ", "Bearer x", "Basic abc", "Bearera-token-of-32-visible-characters",
        "Bearer a-token-of-32-visible-character", "Bearer a-token-of-32-visible-charactersx"})
    EXPECT_EQ(who(*access, header), "unauthenticated") << header;
}

TEST_F(AccessTest, FileGivesTokensRolesNamespacesAndAnEnd) {
  const auto access = must(load(R"({"tokens": [
    {"name": "ci", "token": "1111111111111111", "roles": ["submit"], "namespace": "team-a"},
    {"name": "old", "token": "3333333333333333", "roles": ["admin"],
     "expires_at": "2026-06-01T00:00:00Z"},
    {"name": "fresh", "token": "4444444444444444", "roles": ["admin"],
     "expires_at": "2026-06-01T00:00:00.001Z"}]})"));
  const auto ci = must(access->admit("Bearer 1111111111111111", now));
  EXPECT_EQ(ci.ns->str(), "team-a");
  EXPECT_TRUE(ci.may(Role::submit));
  EXPECT_TRUE(ci.may(Role::read));
  EXPECT_TRUE(ci.may(Role::nobody));
  EXPECT_FALSE(ci.may(Role::work));
  EXPECT_FALSE(ci.may(Role::admin));
  EXPECT_EQ(who(*access, "Bearer 3333333333333333"), "unauthenticated");
  EXPECT_EQ(who(*access, "Bearer 4444444444444444"), "fresh");
}

TEST_F(AccessTest, TokenMayBeGivenByItsDigest) {
  // printf %s 2222222222222222 | sha256sum
  const auto access = must(load(R"({"tokens": [{"name": "h", "roles": ["read"], "token_sha256":
    "8d7329c83bc6acb953a584d0c816c38df01743ce1f8ce642dcc2ec72f4247eda"}]})"));
  EXPECT_EQ(who(*access, "Bearer 2222222222222222"), "h");
  EXPECT_EQ(who(*access, "Bearer 1111111111111111"), "unauthenticated");
}

TEST_F(AccessTest, WrongFilesAreRefusedWithoutTellingSecrets) {
  EXPECT_THAT(refusal("{"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("tokens is missing"));
  EXPECT_THAT(refusal(R"({"tokens": []})"), HasSubstr("from 1 to"));
  const auto entry = [&](const std::string& fields) {
    return refusal(R"({"tokens": [{"name": "n", )" + fields + "}]}");
  };
  EXPECT_THAT(entry(R"("roles": ["read"])"), HasSubstr("either token or token_sha256"));
  EXPECT_THAT(entry(R"("roles": [], "token": "1111111111111111")"), HasSubstr("needs roles"));
  for (const char* role : {"nobody", "boss"})
    EXPECT_THAT(entry(fmt::format(R"("roles": ["{}"], "token": "1111111111111111")", role)),
                HasSubstr("must be one of read, submit, work, admin, got"));
  EXPECT_THAT(entry(R"("roles": ["read"], "token": "too-short")"),
              ::testing::AllOf(HasSubstr("16 to 1024"), Not(HasSubstr("too-short"))));
  EXPECT_THAT(entry(R"("roles": ["read"], "token_sha256": "abc")"), HasSubstr("64 hex digits"));
  EXPECT_THAT(entry(R"("roles": ["read"], "token": "1111111111111111", "expires_at": "soon")"),
              HasSubstr("expires_at"));
  EXPECT_THAT(entry(R"("role": ["read"], "token": "1111111111111111")"),
              ::testing::AllOf(HasSubstr("roles is missing"), Not(HasSubstr("1111"))));
  EXPECT_THAT(
      entry(R"("roles": ["read"], "token": "2222222222222222"},
                       {"name": "m", "roles": ["admin"], "token_sha256":
                        "8d7329c83bc6acb953a584d0c816c38df01743ce1f8ce642dcc2ec72f4247eda")"),
      ::testing::AllOf(HasSubstr("token 'm' is the same token as 'n'"), Not(HasSubstr("2222"))));
  EXPECT_FALSE(Access::load("1111111111111111", file_with("1111111111111111")));
  const auto missing = Access::load("", temp_.path() / "none");
  EXPECT_THAT(missing.error().message, HasSubstr("cannot be read"));
  EXPECT_FALSE(Access::load("short", ""));
}

}  // namespace
}  // namespace ff::http
