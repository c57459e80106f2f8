// Outsiders: the token of a waitpoint is the only credential they need, and gives no other right.
#include <gmock/gmock.h>

#include "base/random.hpp"
#include "http/server/test_support.hpp"
#include "tests/support/log_capture.hpp"

namespace ff::http::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Field = beast::http::field;

constexpr Rate no_limit{.per_second = 1'000'000, .burst = 1'000'000};

class WaitpointTest : public HttpTest {
 protected:
  WaitpointTest() { serve_with({.waitpoint_rate = no_limit}); }
  ~WaitpointTest() override { server_.reset(); }  // before the log goes

  void serve_with(const ServerLimits& limits) {
    serve({.credentials = {.access = must(Access::load("api-token-0123456789", ""))},
           .limits = limits});
  }

  static std::string by_header(const std::string& token) {
    return "Authorization: Waitpoint " + token + "\r\n";
  }
  Response show(const std::string& token) const { return get("/v1/waitpoint", by_header(token)); }
  Response answer(const std::string& token, const std::string& signal) const {
    return post("/v1/waitpoint", fmt::format(R"({{"signal":"{}","comment":"c"}})", signal),
                by_header(token));
  }

  // A suspended execution and the tokens of its waitpoint.
  struct Waiting {
    std::string id;
    std::string waitpoint;
    std::vector<std::string> tokens;
  };
  Waiting suspend(const std::string& approvers = "[]", int needed = 1) const {
    const auto id = submit(R"({"kind":"k"})", api_);
    auto fields = claim(id, api_);
    fields["condition"] = {{"count", needed},
                           {"of", "sources"},
                           {"signal", "approved"},
                           {"waitpoints", json::array{"deploy"}}};
    fields["waitpoints"] = json::parse(
        R"([{"key":"deploy","question":{"title":"Deploy?","text":"Now.","choices":[
          {"signal":"approved","label":"Approve"},{"signal":"rejected","label":"Reject"}],
          "approvers":)" +
        approvers + "}}]");
    const auto reply =
        body_of(post("/v1/executions/" + id + "/suspend", json::serialize(fields), api_));
    EXPECT_EQ(reply.at("status"), "suspended") << json::serialize(reply);
    const auto& waitpoint = reply.at("waitpoints").as_array().at(0).as_object();
    Waiting waiting{.id = id, .waitpoint = text_at(waitpoint, "id"), .tokens = {}};
    for (const auto& token : waitpoint.at("tokens").as_array())
      waiting.tokens.push_back(text_at(token, "token"));
    return waiting;
  }
  json::object execution(const std::string& id) const {
    return body_of(get("/v1/executions/" + id, api_));
  }

  const std::string api_ = bearer("api-token-0123456789");
  ff::test::LogCapture log_;
};

TEST_F(WaitpointTest, AWrongQuestionIsNamedByItsPath) {
  const auto field_of = [&](const char* question) {
    const auto id = submit(R"({"kind":"k"})", api_);
    auto fields = claim(id, api_);
    fields["condition"] = "operator";
    fields["waitpoints"] =
        json::parse(fmt::format(R"([{{"key":"deploy","question":{}}}])", question));
    const auto refused =
        body_of(post("/v1/executions/" + id + "/suspend", json::serialize(fields), api_));
    return text_at(refused, "field");
  };
  EXPECT_EQ(field_of(R"({"choices":[{"signal":"a","label":"x"},{"signal":"a","label":"y"}]})"),
            "waitpoints[0].question.choices");
  EXPECT_EQ(field_of(R"({"approvers":["ada","ada"]})"), "waitpoints[0].question.approvers");
}

// ---- Reading ------------------------------------------------------------------------------------

TEST_F(WaitpointTest, ReadingShowsTheQuestionAndChangesNothing) {
  const auto waiting = suspend(R"(["ada","grace"])", 2);
  const auto before = execution(waiting.id);
  for (int i = 0; i < 2; ++i) {
    const auto shown = show(waiting.tokens.at(0));
    EXPECT_EQ(shown.result_int(), 200u) << shown.body();
    EXPECT_EQ(shown[Field::cache_control], "no-store");
    EXPECT_EQ(shown["Referrer-Policy"], "no-referrer");
    const auto view = body_of(shown);
    EXPECT_EQ(view.at("approver"), "ada");
    EXPECT_EQ(view.at("answers"), 0);
    EXPECT_EQ(view.at("question").as_object().at("title"), "Deploy?");
    EXPECT_THAT(shown.body(), Not(HasSubstr("grace")));
    EXPECT_THAT(shown.body(), Not(HasSubstr(waiting.id)));
  }
  EXPECT_EQ(ask({.method = "HEAD", .target = "/v1/waitpoints/" + waiting.tokens[0]}).result_int(),
            200u);
  EXPECT_EQ(execution(waiting.id), before);
}

TEST_F(WaitpointTest, TheTokenComesInAHeaderOrInThePath) {
  const auto waiting = suspend();
  const auto& token = waiting.tokens.at(0);
  EXPECT_EQ(get("/v1/waitpoints/" + token).body(), show(token).body());
  EXPECT_EQ(code_of(get("/v1/waitpoint")), "missing_token");
  EXPECT_EQ(code_of(get("/v1/waitpoint", "Authorization: Bearer " + token + "\r\n")),
            "missing_token");
  EXPECT_EQ(code_of(get("/v1/waitpoint?token=" + token)), "missing_token");
  EXPECT_EQ(code_of(get("/v1/waitpoint?token=x", by_header(token))), "invalid_input");
  const auto by_path = post("/v1/waitpoints/" + token, R"({"signal":"approved"})");
  EXPECT_EQ(by_path.result_int(), 201u) << by_path.body();
}

// ---- Answering ----------------------------------------------------------------------------------

TEST_F(WaitpointTest, AnAnswerResumesTheExecution) {
  const auto waiting = suspend();
  const auto sent = answer(waiting.tokens.at(0), "approved");
  EXPECT_EQ(sent.result_int(), 201u) << sent.body();
  EXPECT_EQ(body_of(sent).at("effect"), "resume_condition_satisfied");
  EXPECT_EQ(execution(waiting.id).at("state"), "waiting");
}

TEST_F(WaitpointTest, ATokenAnswersOnce) {
  const auto waiting = suspend(R"(["ada","grace"])", 2);
  EXPECT_EQ(answer(waiting.tokens.at(0), "approved").result_int(), 201u);
  const auto again = answer(waiting.tokens.at(0), "approved");
  EXPECT_EQ(again.result_int(), 200u);
  EXPECT_EQ(body_of(again).at("status"), "duplicate");
  EXPECT_EQ(code_of(answer(waiting.tokens.at(0), "rejected")), "waitpoint_answered");
  EXPECT_EQ(body_of(show(waiting.tokens.at(0))).at("answer"), "approved");
  EXPECT_EQ(body_of(show(waiting.tokens.at(1))).at("answers"), 1);
  EXPECT_EQ(execution(waiting.id).at("state"), "suspended");
  EXPECT_EQ(answer(waiting.tokens.at(1), "approved").result_int(), 201u);
  EXPECT_EQ(execution(waiting.id).at("state"), "waiting");
}

TEST_F(WaitpointTest, AClosedWaitpointIsGone) {
  const auto waiting = suspend();
  post("/v1/executions/" + waiting.id + "/cancel", "{}", api_);
  for (const auto& refused : {show(waiting.tokens[0]), answer(waiting.tokens[0], "approved")}) {
    EXPECT_EQ(refused.result_int(), 410u) << refused.body();
    EXPECT_EQ(code_of(refused), "waitpoint_closed");
    EXPECT_EQ(refused[Field::cache_control], "no-store");
  }
}

// ---- Bad tokens ---------------------------------------------------------------------------------

TEST_F(WaitpointTest, EveryBadTokenIsAnsweredAlike) {
  const auto waiting = suspend();
  const auto& token = waiting.tokens.at(0);
  auto forged = token;
  forged.back() = forged.back() == 'A' ? 'B' : 'A';
  auto changed = token;
  const auto body_at = changed.find('.', changed.find('.') + 1) + 8;
  changed[body_at] = changed[body_at] == 'A' ? 'B' : 'A';
  const auto refused = show("x").body();
  EXPECT_EQ(code_of(show("x")), "waitpoint_not_found");
  for (const auto& bad :
       {forged, changed, token.substr(1), token.substr(0, token.size() - 1), token + "A",
        token + token, std::string("a.b.c.d"), std::string("k1:") + std::string(40, '0'),
        std::string("api-token-0123456789"), std::string(8000, 'a'), waiting.waitpoint}) {
    EXPECT_EQ(show(bad).result_int(), 404u) << bad;
    EXPECT_EQ(show(bad).body(), refused) << bad;
    EXPECT_EQ(answer(bad, "approved").body(), refused) << bad;
  }
  EXPECT_EQ(execution(waiting.id).at("signals"), 0);
}

TEST_F(WaitpointTest, ATokenOfAnotherStoreIsNotValid) {
  const auto token = suspend().tokens.at(0);
  server_.reset();
  engine_ = open_engine(temp_.path() / "another");
  serve_with({});
  EXPECT_EQ(code_of(show(token)), "waitpoint_not_found");
}

TEST_F(WaitpointTest, ATokenGivesNoOtherRight) {
  const auto waiting = suspend();
  for (const auto& header : {by_header(waiting.tokens[0]), bearer(waiting.tokens[0])}) {
    EXPECT_EQ(get("/v1/executions/" + waiting.id, header).result_int(), 401u);
    EXPECT_EQ(post("/v1/executions/" + waiting.id + "/signals/approved", "{}", header).result_int(),
              401u);
  }
}

// ---- Limits -------------------------------------------------------------------------------------

TEST_F(WaitpointTest, RequestsOfAnAddressAreLimitedAndOthersGoOn) {
  serve_with({.waitpoint_rate = {.per_second = 1, .burst = 3}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(show("x").result_int(), 404u);
  const auto limited = answer("x", "approved");
  EXPECT_EQ(limited.result_int(), 429u);
  EXPECT_EQ(limited[Field::retry_after], "1");
  EXPECT_EQ(get("/v1/waitpoints/x").result_int(), 429u);
  EXPECT_EQ(get("/approve").result_int(), 200u);
  EXPECT_EQ(get("/v1/counts", api_).result_int(), 200u);
}

TEST_F(WaitpointTest, AnAnswerIsSmall) {
  const auto waiting = suspend();
  const auto body =
      fmt::format(R"({{"signal":"approved","payload":"{}"}})", std::string(70'000, 'x'));
  EXPECT_EQ(post("/v1/waitpoint", body, by_header(waiting.tokens[0])).result_int(), 413u);
  EXPECT_EQ(execution(waiting.id).at("state"), "suspended");
}

std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * 4096;
}

TEST_F(WaitpointTest, ManyForgedTokensLeaveNothingBehind) {
  const auto token = suspend().tokens.at(0);
  set_logger({});
  Peer peer(port_);
  constexpr int batch = 500;
  const auto send_batch = [&](int from) {
    std::string requests;
    for (int i = from; i < from + batch; ++i)
      requests += to_text(
          {.target = "/v1/waitpoint",
           .headers = by_header(fmt::format("{}{:06}", token.substr(0, token.size() - 6), i))});
    peer.send(requests);
    for (int i = 0; i < batch; ++i) ASSERT_EQ(peer.read().result_int(), 404u);
  };
  for (int i = 0; i < 10; ++i) send_batch(i * batch);
  [[maybe_unused]] const auto before = resident_bytes();
  for (int i = 10; i < 40; ++i) send_batch(i * batch);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these keep freed memory
  EXPECT_LT(resident_bytes(), before + (16u << 20));
#endif
}

// ---- Secrecy ------------------------------------------------------------------------------------

TEST_F(WaitpointTest, TokensAreInNoLogMetricOrError) {
  const auto waiting = suspend();
  const auto& token = waiting.tokens.at(0);
  std::string told;
  const auto hear = [&](const Response& answer) {
    for (const auto& field : answer) told += std::string(field.value()) + "\n";
    told += answer.body() + "\n";
  };
  hear(show(token));
  hear(get("/v1/waitpoints/" + token));
  hear(get("/v1/waitpoints/" + token + "?" + "no_such_field=1"));
  hear(get("/v1/waitpoints/" + token + "/more"));
  hear(get("/%76%31/waitpoints/" + token + "/more"));
  hear(get("http://localhost/v1/waitpoints/" + token + "/%zz"));
  hear(get("/prefix/v1/waitpoints/" + token));
  hear(ask({.method = "DELETE", .target = "/v1/waitpoints/" + token}));
  hear(ask({.method = "PUT", .target = "/v1/waitpoint", .headers = by_header(token)}));
  hear(post("/v1/waitpoints/" + token, "{"));
  hear(post("/v1/waitpoints/" + token, R"({"signal":"approved","token":"other"})"));
  hear(answer(token, "approved"));
  hear(answer(token, "rejected"));
  hear(get("/metrics", api_));
  server_.reset();
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("GET /v1/waitpoints/… 200"),
                                 HasSubstr("POST /v1/waitpoint 201"), Not(HasSubstr(token))));
  EXPECT_THAT(told, AllOf(HasSubstr("/v1/waitpoints/{token}"), Not(HasSubstr(token))));
}

TEST_F(WaitpointTest, TokensOnPathsThatAreNoneOfOursAreNotLogged) {
  const auto token = suspend().tokens.at(0);
  const auto secret_part = token.substr(token.size() / 2);
  std::string told;
  for (const std::string path :
       {"/v1/waitpoint/", "/v1/waitpoints//", "/V1/Waitpoints/", "/waitpoints/", "/approve/",
        "/v1/executions/", "/v1/executions/x/waitpoints/", "/v1/webhooks/", "/", "/a%2f"})
    for (const std::string tail : {"", "/", "/more", "%00", "?x=1"})
      told += get(path + token + tail).body();
  told += get("/v1/waitpoint/%66%66w1" + token.substr(4)).body();
  server_.reset();
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("GET /approve/… 401"), Not(HasSubstr(secret_part))));
  EXPECT_THAT(told, Not(HasSubstr(secret_part)));
}

TEST_F(WaitpointTest, RepliesWithTokensAreKeptByNoCache) {
  const auto waiting = suspend();
  const auto tokens =
      get("/v1/executions/" + waiting.id + "/waitpoints/" + waiting.waitpoint + "/tokens", api_);
  EXPECT_EQ(tokens.result_int(), 200u) << tokens.body();
  EXPECT_EQ(tokens[Field::cache_control], "no-store");
  EXPECT_EQ(text_at(body_of(tokens).at("tokens").as_array().at(0), "token"), waiting.tokens[0]);
  EXPECT_THAT(log_.text(), HasSubstr("/tokens 200 "));
  EXPECT_THAT(get("/v1/executions/" + waiting.id + "/pending-waitpoints", api_).body(),
              AllOf(HasSubstr(waiting.waitpoint), Not(HasSubstr(waiting.tokens[0]))));
}

// ---- A server without tokens --------------------------------------------------------------------

class OpenWaitpointTest : public WaitpointTest {
 protected:
  OpenWaitpointTest() { serve({.limits = {.waitpoint_rate = no_limit}}); }
};

// Through a tunnel or a proxy that keeps the host's name, while everything else stays closed.
TEST_F(OpenWaitpointTest, TokensAreTakenAtAnyNameButNotFromForeignPages) {
  const auto token = suspend().tokens.at(0);
  const auto status = [&](const std::string& target, const std::string& headers) {
    Peer peer(port_);
    peer.send(fmt::format("GET {} HTTP/1.1\r\n{}{}\r\n", target, headers, by_header(token)));
    return peer.read().result_int();
  };
  const std::string other_name = "Host: ff.example\r\n";
  EXPECT_EQ(status("/v1/waitpoint", other_name), 200u);
  EXPECT_EQ(status("/v1/waitpoint", other_name + "Origin: https://ff.example\r\n"), 200u);
  EXPECT_EQ(status("/v1/waitpoint", other_name + "Origin: https://evil.example\r\n"), 403u);
  EXPECT_EQ(status("/approve", other_name), 200u);
  EXPECT_EQ(status("/v1/executions", other_name), 403u);
}

}  // namespace
}  // namespace ff::http::test
