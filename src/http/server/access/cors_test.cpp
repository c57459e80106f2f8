#include "http/server/access/cors.hpp"

#include <gmock/gmock.h>

#include "http/server/test_support.hpp"

namespace ff::http::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Field = beast::http::field;

constexpr const char* app = "https://app.example.com";
constexpr const char* token_of_cors_test = "some-token-0123456789";

TEST(Cors, AllowsTheOriginsOfItsList) {
  std::vector<std::string> ignored;
  const auto cors =
      must(Cors::parse(" https://App.example.com, ,nonsense,http://localhost:3000", &ignored));
  EXPECT_EQ(cors.allowed(app), app);
  EXPECT_EQ(cors.allowed("http://localhost:3000"), "http://localhost:3000");
  for (const char* other : {"", "null", "http://app.example.com", "https://app.example.com:444",
                            "https://app.example.com.evil.com", "http://localhost"})
    EXPECT_EQ(cors.allowed(other), "") << other;
  EXPECT_THAT(ignored, ElementsAre("nonsense"));
}

TEST(Cors, AllowsNobodyByDefaultAndAllIfAskedTo) {
  EXPECT_EQ(must(Cors::parse("")).allowed(app), "");
  const auto all = must(Cors::parse("https://a.example,*"));
  EXPECT_EQ(all.allowed("https://anywhere.example"), "*");
  EXPECT_TRUE(all.is_for_all());
}

TEST(Cors, TakesTheUsualPortAsBrowsersDo) {
  const auto cors =
      must(Cors::parse("https://a.example:443,http://b.example:80,http://c.example:443"));
  EXPECT_EQ(cors.allowed("https://a.example"), "https://a.example");
  EXPECT_EQ(cors.allowed("http://b.example"), "http://b.example");
  EXPECT_EQ(cors.allowed("http://c.example"), "");
}

TEST(Cors, OfNothingButNonsenseIsAnError) {
  for (const char* list : {"nonsense", "https://", "https://a.example/path", "ftp://a.example",
                           "https://user@a.example", "https://a.example?b", "https://a.example/",
                           "https://a.example:", "https://a.example:0", "https://a.example:65536",
                           "https://a.example#", "//a.example", "ws://a.example"})
    EXPECT_FALSE(Cors::parse(list)) << list;
}

class CorsTest : public HttpTest {
 protected:
  void serve_for(const std::string& origins, bool with_token) {
    ServerOptions options{.cors = must(Cors::parse(origins))};
    if (with_token) options.credentials.access = must(Access::load(token_of_cors_test, ""));
    serve(std::move(options));
  }
  Response preflight(const std::string& origin) const {
    return ask({.method = "OPTIONS",
                .target = "/v1/executions",
                .headers = "Origin: " + origin + "\r\nAccess-Control-Request-Method: POST\r\n"});
  }
  static std::string from(const std::string& origin) { return "Origin: " + origin + "\r\n"; }
};

TEST_F(CorsTest, AnAllowedPageMayAskFirstWithoutAToken) {
  serve_for(app, true);
  const auto answer = preflight(app);
  EXPECT_EQ(answer.result_int(), 204u);
  EXPECT_EQ(answer[Field::access_control_allow_origin], app);
  EXPECT_EQ(answer[Field::access_control_allow_methods], "GET, POST, PUT, DELETE");
  EXPECT_THAT(std::string(answer[Field::access_control_allow_headers]), HasSubstr("authorization"));
  EXPECT_EQ(answer[Field::vary], "Origin");
  const auto foreign = preflight("https://evil.example");
  EXPECT_EQ(foreign.result_int(), 401u);
  EXPECT_EQ(foreign[Field::access_control_allow_origin], "");
}

TEST_F(CorsTest, AnAllowedPageMayReadRepliesAndErrors) {
  serve_for(app, true);
  const auto counts = get("/v1/counts", from(app) + bearer(token_of_cors_test));
  EXPECT_EQ(counts.result_int(), 200u);
  EXPECT_EQ(counts[Field::access_control_allow_origin], app);
  const auto refused = get("/v1/counts", from(app));
  EXPECT_EQ(refused.result_int(), 401u);
  EXPECT_EQ(refused[Field::access_control_allow_origin], app);
  EXPECT_EQ(get("/v1/counts", from("https://evil.example") +
                                  bearer(token_of_cors_test))[Field::access_control_allow_origin],
            "");
}

TEST_F(CorsTest, AServerWithoutTokensServesAllowedPagesOnly) {
  serve_for(app, false);
  EXPECT_EQ(get("/v1/counts", from(app) + "Sec-Fetch-Site: cross-site\r\n").result_int(), 200u);
  EXPECT_EQ(get("/v1/counts", from("https://evil.example")).result_int(), 403u);
}

TEST_F(CorsTest, WithoutAListNothingIsSaidAboutOrigins) {
  serve_for("", true);
  EXPECT_EQ(preflight(app).result_int(), 401u);
  const auto counts = get("/v1/counts", from(app) + bearer(token_of_cors_test));
  EXPECT_EQ(counts[Field::access_control_allow_origin], "");
  EXPECT_EQ(counts[Field::vary], "");
}

TEST_F(CorsTest, AStreamOfEventsIsReadableToo) {
  serve_for(app, true);
  Peer peer(port_);
  peer.send(to_text(
      {.target = "/v1/events",
       .headers = from(app) + bearer(token_of_cors_test) + "Accept: text/event-stream\r\n"}));
  EXPECT_THAT(peer.read_until("\r\n\r\n"),
              HasSubstr(std::string("Access-Control-Allow-Origin: ") + app + "\r\nVary: Origin"));
}

}  // namespace
}  // namespace ff::http::test
