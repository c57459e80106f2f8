// Login sessions of browsers.
#include "http/server/access/sessions.hpp"

#include <gmock/gmock.h>

#include "base/text/rfc3339.hpp"
#include "http/server/routes.hpp"
#include "http/server/test_support.hpp"
#include "tests/support/log_capture.hpp"

namespace ff::http::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* ada = "ada-token-0123456789";
constexpr const char* bob = "bob-token-0123456789";

std::string entry(const char* name, const char* token, const char* roles = R"("admin")",
                  const std::string& more = "") {
  return fmt::format(R"({{"name":"{}","token":"{}","roles":[{}]{}}})", name, token, roles, more);
}

// ---- The table of sessions --------------------------------------------------------------------------

class SessionsTest : public HttpTest {
 protected:
  Result<Sessions::Opened> open(const char* token, TimePoint now = start) {
    return sessions_.open(*access_, "Bearer " + std::string(token), now);
  }
  std::optional<Errc> refusal(const std::string& id, TimePoint now = start) {
    const auto caller = sessions_.admit(*access_, id, now);
    return caller ? std::nullopt : std::optional(caller.error().code);
  }

  static constexpr TimePoint start{std::chrono::hours{24 * 365 * 50}};
  std::shared_ptr<const Access> access_ = access(entry("ada", ada) + "," + entry("bob", bob));
  Sessions sessions_{{.ttl = std::chrono::hours{1}, .of_token = 2, .all = 3}};
};

TEST_F(SessionsTest, BelongToTheirTokenForATime) {
  const auto opened = must(open(ada));
  EXPECT_EQ(opened.id.size(), 64u);
  EXPECT_EQ(opened.caller.expires_at, start + std::chrono::hours{1});
  const auto caller = must(sessions_.admit(*access_, opened.id, start));
  EXPECT_EQ(caller.name, "ada");
  EXPECT_EQ(caller.csrf_token, csrf_token_of(opened.id));
  EXPECT_EQ(refusal(opened.id, start + std::chrono::hours{1}), Errc::unauthenticated);
  EXPECT_EQ(sessions_.size(), 0u);
}

TEST_F(SessionsTest, NeedAValidToken) {
  EXPECT_EQ(open("wrong-token-0123456789").error().code, Errc::unauthenticated);
  EXPECT_EQ(open("").error().code, Errc::unauthenticated);
  EXPECT_EQ(sessions_.open(*Access::open_to_all(), "", start).error().code, Errc::invalid_input);
  EXPECT_EQ(refusal(std::string(64, 'a')), Errc::unauthenticated);
}

TEST_F(SessionsTest, EndWithTheirToken) {
  const auto soon = start + std::chrono::minutes{5};
  access_ = access(entry("ada", ada, R"("admin")", R"(,"expires_at":")" + to_rfc3339(soon) + "\"") +
                   "," + entry("bob", bob));
  const auto of_ada = must(open(ada));
  const auto of_bob = must(open(bob));
  EXPECT_EQ(of_ada.caller.expires_at, soon);
  EXPECT_EQ(refusal(of_ada.id, soon), Errc::unauthenticated);
  access_ = access(entry("bob", "another-token-0123456789"));
  EXPECT_EQ(refusal(of_bob.id), Errc::unauthenticated);
  access_ = access(entry("bob", bob));
  EXPECT_EQ(refusal(of_bob.id), Errc::unauthenticated) << "it is gone for good";
}

TEST_F(SessionsTest, HaveTheRolesThatTheirTokenHasNow) {
  const auto opened = must(open(ada));
  access_ = access(entry("ada", ada, R"("read")"));
  EXPECT_FALSE(must(sessions_.admit(*access_, opened.id, start)).may(Role::admin));
}

TEST_F(SessionsTest, AreLimitedPerTokenAndInAll) {
  const auto first = must(open(ada));
  const auto second = must(open(ada));
  const auto third = must(open(ada));
  EXPECT_EQ(refusal(first.id), Errc::unauthenticated);
  EXPECT_EQ(refusal(second.id), std::nullopt);
  must(open(bob));
  EXPECT_EQ(open(bob).error().code, Errc::resource_exhausted);
  sessions_.close(third.id);
  sessions_.close(third.id);
  must(open(bob));
  must(open(ada, start + std::chrono::hours{2}));
  EXPECT_EQ(sessions_.size(), 1u) << "those that are over make room";
}

// ---- Over HTTP ------------------------------------------------------------------------------------

class LoginTest : public HttpTest {
 protected:
  LoginTest() {
    serve({.credentials = {.access = access(entry("ada", ada) + "," +
                                            entry("bob", bob, R"("read")") + "," +
                                            entry("blind", "blind-token-0123456789", R"("admin")",
                                                  R"(,"payloads":false)"))}});
  }
  ~LoginTest() override { server_.reset(); }  // before the log goes

  struct LoggedIn {
    std::string cookie;  // header lines
    std::string csrf;
  };
  LoggedIn log_in(const char* token) const {
    const auto response = post("/v1/login", fmt::format(R"({{"token":"{}"}})", token));
    EXPECT_EQ(response.result_int(), 200u) << response.body();
    const std::string set(response[beast::http::field::set_cookie]);
    return {.cookie = "Cookie: theme=dark; " + set.substr(0, set.find(';')) + "\r\n",
            .csrf = "X-CSRF-Token: " + text_at(body_of(response), "csrf_token") + "\r\n"};
  }

  ff::test::LogCapture log_;
};

TEST_F(LoginTest, ATokenBecomesACookie) {
  const auto response = post("/v1/login", fmt::format(R"({{"token":"{}"}})", ada));
  EXPECT_THAT(std::string(response[beast::http::field::set_cookie]),
              AllOf(ContainsRegex("^ff_session=[0-9a-f]+; Path=/v1; Max-Age=43(200|199); "
                                  "HttpOnly; SameSite=Strict$")));
  EXPECT_EQ(response[beast::http::field::cache_control], "no-store");
  const auto session = log_in(ada);
  const auto who = body_of(get("/v1/whoami", session.cookie));
  EXPECT_EQ(text_at(who, "name"), "ada");
  EXPECT_EQ("X-CSRF-Token: " + text_at(who, "csrf_token") + "\r\n", session.csrf);
  EXPECT_FALSE(body_of(get("/v1/whoami", bearer(ada))).contains("csrf_token"));
  EXPECT_EQ(post("/v1/login", "", bearer(ada)).result_int(), 200u);
}

TEST_F(LoginTest, WrongLoginsAreRefused) {
  EXPECT_EQ(code_of(post("/v1/login", R"({"token":"wrong-token-0123456789"})")), "unauthenticated");
  EXPECT_EQ(code_of(post("/v1/login", "{}")), "unauthenticated");
  EXPECT_EQ(code_of(post("/v1/login", "")), "unauthenticated");
  EXPECT_EQ(code_of(post("/v1/login", "[1]")), "invalid_json");
  EXPECT_EQ(code_of(post("/v1/login", R"({"password":"x"})")), "unknown_field");
  EXPECT_EQ(code_of(post("/v1/login", R"({"token":7})")), "invalid_input");
  EXPECT_EQ(code_of(post("/v1/login", fmt::format(R"({{"token":"{}"}})", ada), bearer(ada))),
            "invalid_input");
  EXPECT_EQ(post("/v1/login", std::string(5'000, ' ')).result_int(), 413u);
  EXPECT_EQ(code_of(post("/v1/login", fmt::format(R"({{"token":"{}"}})", ada),
                         "Origin: https://evil.example\r\n")),
            "permission_denied");
  EXPECT_EQ(get("/v1/login", bearer(ada)).result_int(), 405u);
}

TEST_F(LoginTest, ManyLoginsFromOneAddressAreRefused) {
  unsigned last = 0;
  for (int i = 0; i < 50 && last != 429; ++i)
    last = post("/v1/login", R"({"token":"wrong-token-0123456789"})").result_int();
  EXPECT_EQ(last, 429u);
  EXPECT_EQ(get("/v1/counts", bearer(ada)).result_int(), 200u);
}

TEST_F(LoginTest, ChangesNeedTheCsrfToken) {
  const auto session = log_in(ada);
  const auto other = log_in(ada);
  const auto submits = [&](const std::string& headers) {
    return post("/v1/executions", R"({"kind":"k"})", headers).result_int();
  };
  EXPECT_EQ(submits(session.cookie), 403u);
  EXPECT_EQ(submits(session.cookie + "X-CSRF-Token: \r\n"), 403u);
  EXPECT_EQ(submits(session.cookie + other.csrf), 403u);
  EXPECT_EQ(submits(session.cookie + session.csrf + session.csrf), 403u);
  EXPECT_EQ(submits(session.csrf), 401u);
  EXPECT_EQ(submits(session.cookie + session.csrf), 201u);
  EXPECT_EQ(submits(session.cookie + bearer(ada)), 201u) << "a token needs none";
}

TEST_F(LoginTest, PagesOfOtherOriginsAreRefused) {
  const auto session = log_in(ada);
  for (const char* foreign : {"Origin: https://evil.example\r\n", "Origin: null\r\n",
                              "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n"}) {
    EXPECT_EQ(get("/v1/counts", session.cookie + foreign).result_int(), 403u) << foreign;
    EXPECT_EQ(post("/v1/executions", R"({"kind":"k"})", session.cookie + session.csrf + foreign)
                  .result_int(),
              403u)
        << foreign;
  }
  EXPECT_EQ(get("/v1/counts", session.cookie + "Origin: http://localhost\r\n").result_int(), 200u);
  EXPECT_EQ(get("/v1/counts", session.cookie + "Sec-Fetch-Site: same-origin\r\n").result_int(),
            200u);
}

TEST_F(LoginTest, WorkersCannotUseOne) {
  const auto session = log_in(ada);
  for (const auto& route : routes()) {
    if (route.endpoint.role != Role::work) continue;
    auto target = std::string(route.endpoint.path);
    for (auto at = target.find('{'); at != target.npos; at = target.find('{'))
      target.replace(at, target.find('}') - at + 1, "x");
    const auto refused = ask({.method = std::string(beast::http::to_string(route.endpoint.method)),
                              .target = target,
                              .body = has_body(route.endpoint.method) ? "{}" : "",
                              .headers = session.cookie + session.csrf});
    EXPECT_EQ(code_of(refused), "permission_denied") << target;
  }
}

TEST_F(LoginTest, HostileCookiesAreRefused) {
  const auto session = log_in(ada);
  const auto id = session.cookie.substr(session.cookie.find("ff_session=") + 11, 64);
  const auto status = [&](const std::string& cookies) {
    return get("/v1/counts", "Cookie: " + cookies + "\r\n").result_int();
  };
  EXPECT_EQ(status("ff_session=" + id), 200u);
  EXPECT_EQ(status("a=b;ff_session=" + id + " ; c"), 200u);
  for (const std::string& hostile :
       {std::string("ff_session="), std::string("ff_session"), "ff_session=" + id.substr(1),
        "ff_session=" + id + "0", "ff_session=\"" + id + "\"", "FF_SESSION=" + id,
        "xff_session=" + id, "ff_session=" + std::string(64, '0'),
        "ff_session=" + std::string(64, '\xff'), std::string(";;;=;=="),
        "ff_session=" + id + "; ff_session=" + std::string(64, '0'),
        "ff_session=" + id + "; ff_session=" + id, std::string(8'000, ';')})
    EXPECT_EQ(status(hostile), 401u) << hostile.substr(0, 100);
  EXPECT_EQ(get("/v1/counts", session.cookie + session.cookie).result_int(), 401u);
}

TEST_F(LoginTest, ALogoutEndsTheSession) {
  const auto session = log_in(ada);
  const auto other = log_in(ada);
  EXPECT_EQ(post("/v1/logout", "", session.cookie).result_int(), 403u);
  const auto out = post("/v1/logout", "", session.cookie + session.csrf);
  EXPECT_EQ(out.result_int(), 200u);
  EXPECT_THAT(std::string(out[beast::http::field::set_cookie]),
              AllOf(HasSubstr("ff_session=;"), HasSubstr("Max-Age=0")));
  EXPECT_EQ(get("/v1/counts", session.cookie).result_int(), 401u);
  EXPECT_EQ(get("/v1/counts", other.cookie).result_int(), 200u);
  EXPECT_EQ(post("/v1/logout", "", session.cookie).result_int(), 200u) << "it is over already";
  EXPECT_EQ(post("/v1/logout", "").result_int(), 200u);
}

TEST_F(LoginTest, AnEventStreamEndsWithItsSession) {
  const auto follow = [&](Peer& peer, const LoggedIn& session) {
    peer.send(to_text(
        {.target = "/v1/events", .headers = session.cookie + "Accept: text/event-stream\r\n"}));
    peer.read_until("\r\n\r\n");
    peer.read_until("\n\n");
  };
  const auto ended = log_in(ada);
  const auto kept = log_in(ada);
  Peer first(port_), second(port_);
  follow(first, ended);
  follow(second, kept);
  post("/v1/logout", "", ended.cookie + ended.csrf);
  EXPECT_THAT(first.read_all(), Not(HasSubstr("event:")));
  submit(R"({"kind":"k"})", bearer(ada));
  second.read_until("event: submitted");
  server_->exchange({.access = access(entry("bob", bob))});
  EXPECT_THAT(second.read_all(), Not(HasSubstr("event:")));
}

TEST_F(LoginTest, NeitherTokensNorCookiesAreLogged) {
  const auto session = log_in(ada);
  get("/v1/counts", session.cookie);
  post("/v1/logout", "", session.cookie + session.csrf);
  server_.reset();
  const auto id = session.cookie.substr(session.cookie.find("ff_session=") + 11, 64);
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("POST /v1/login 200"), HasSubstr("by=ada"),
                                 Not(HasSubstr(ada)), Not(HasSubstr(id))));
}

TEST_F(LoginTest, ACookieIsSecureBehindHttps) {
  serve({.credentials = {.access = access(entry("ada", ada))}, .limits = {.behind_https = true}});
  EXPECT_THAT(std::string(post("/v1/login", "", bearer(ada))[beast::http::field::set_cookie]),
              ::testing::EndsWith("; Secure"));
}

TEST_F(LoginTest, AServerWithoutTokensHasNoLogins) {
  serve();
  EXPECT_EQ(code_of(post("/v1/login", "{}")), "invalid_input");
  EXPECT_EQ(body_of(get("/v1/whoami")).at("needs_token"), false);
}

// ---- Payloads ---------------------------------------------------------------------------------------

TEST_F(LoginTest, ATokenMayBeWithoutTheRightToPayloads) {
  const auto id = submit(R"({"kind":"k","payload":"secret"})", bearer(ada));
  const auto blind = bearer("blind-token-0123456789");
  EXPECT_EQ(get("/v1/executions/" + id, blind).result_int(), 200u);
  EXPECT_EQ(get("/v1/executions/" + id + "/payload", bearer(bob)).result_int(), 200u);
  EXPECT_EQ(body_of(get("/v1/whoami", blind)).at("payloads"), false);
  std::size_t denied = 0;
  for (const auto& route : routes()) {
    if (!route.shows_payloads || route.endpoint.role == Role::work) continue;
    auto target = std::string(route.endpoint.path);
    for (auto at = target.find('{'); at != target.npos; at = target.find('{'))
      target.replace(at, target.find('}') - at + 1, "x");
    const auto refused = ask({.method = std::string(beast::http::to_string(route.endpoint.method)),
                              .target = target,
                              .body = has_body(route.endpoint.method) ? "{}" : "",
                              .headers = blind});
    EXPECT_EQ(code_of(refused), "permission_denied") << target;
    ++denied;
  }
  EXPECT_GE(denied, 9u);
  const auto file = temp_.path() / "tokens.json";
  std::ofstream(file) << R"({"tokens":[)" << entry("w", ada, R"("work")", R"(,"payloads":false)")
                      << "]}";
  EXPECT_FALSE(Access::load("", file));
}

}  // namespace
}  // namespace ff::http::test
