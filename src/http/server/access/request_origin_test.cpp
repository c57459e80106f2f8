#include "http/server/access/request_origin.hpp"

#include <gtest/gtest.h>

namespace ff::http {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

Request request(const std::string& target, const Headers& headers) {
  Request made{beast::http::verb::get, target, 11};
  for (const auto& [name, value] : headers) made.insert(name, value);
  return made;
}

// "authority path", or the error's code.
std::string target(const std::string& text, const Headers& headers = {{"Host", "h:1"}}) {
  const auto asked = request(text, headers);
  const auto read = read_target(asked);
  return read ? fmt::format("{} {}", read->authority, read->path)
              : std::string(read.error().name());
}

TEST(RequestOrigin, AnAbsoluteTargetNamesItsHost) {
  EXPECT_EQ(target("/a?b"), "h:1 /a?b");
  EXPECT_EQ(target("http://other:2/a?b"), "other:2 /a?b");
  EXPECT_EQ(target("HTTPS://other?b"), "other ?b");
  EXPECT_EQ(target("http://other"), "other /");
  EXPECT_EQ(target("*"), "h:1 *");
}

TEST(RequestOrigin, ARequestHasExactlyOneHost) {
  EXPECT_EQ(target("/", {}), "invalid_input");
  EXPECT_EQ(target("/", {{"Host", "a"}, {"Host", "a"}}), "invalid_input");
  EXPECT_EQ(target("http://other/", {}), "invalid_input");
}

TEST(RequestOrigin, KnowsLoopbackHosts) {
  for (const char* host : {"localhost", "LocalHost:9090", "127.0.0.1", "127.1.2.3:80", "[::1]",
                           "[::1]:9090", "ff.localhost"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"", "x", "evil.example", "127.0.0.1.evil.example", "localhost.evil",
                           "evillocalhost", "10.0.0.1", "[::2]", "[::1", "0.0.0.0", "localhost@x"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(RequestOrigin, PagesOfOtherOriginsAreForeign) {
  const auto refused = [](const Headers& headers) {
    return !refuse_foreign_page(request("/", headers), "localhost:9090");
  };
  EXPECT_FALSE(refused({}));
  EXPECT_FALSE(refused({{"Origin", "http://localhost:9090"}}));
  EXPECT_FALSE(refused({{"Origin", "https://LOCALHOST:9090"}, {"Sec-Fetch-Site", "same-origin"}}));
  EXPECT_FALSE(refused({{"Sec-Fetch-Site", "none"}}));
  for (const char* origin : {"null", "", "http://localhost", "http://localhost:3000",
                             "https://evil.example", "file://localhost:9090"})
    EXPECT_TRUE(refused({{"Origin", origin}})) << origin;
  for (const char* site : {"cross-site", "same-site", "else"})
    EXPECT_TRUE(refused({{"Sec-Fetch-Site", site}})) << site;
}

}  // namespace
}  // namespace ff::http
