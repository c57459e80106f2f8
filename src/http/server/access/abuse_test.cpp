// Clients that are slow, greedy, gone, or do not know what they say.
#include <flowfabric/limits.hpp>

#include <gmock/gmock.h>

#include "base/text/base64.hpp"
#include "http/server/test_support.hpp"

namespace ff::http::test {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* wait_for_work = "/v1/workers/w/claim-with-lease";
constexpr const char* a_minute = R"({"wait_ms":60000})";

class AbuseTest : public HttpTest {
 protected:
  void serve_with(const ServerLimits& limits) { serve({.limits = limits}); }

  // Everything it says to these bytes and then nothing more.
  std::string say(std::string_view bytes) {
    Peer peer(port_);
    peer.send(bytes);
    peer.say_no_more();
    return peer.read_all();
  }
  // The same, from a client that stays.
  std::string say_and_wait(std::string_view bytes) {
    Peer peer(port_);
    peer.send(bytes);
    return peer.read_all();
  }
  void expect_nothing_held() {
    await_metric("ff_http_connections", 1);  // the one that asks
    await_metric("ff_http_long_polls", 0);
    await_metric("ff_http_body_bytes", 0);
  }
};

TEST_F(AbuseTest, OneConnectionTooManyIsToldSoAndThePlaceIsFreeAgainAfterwards) {
  serve_with({.connections = 1});
  Peer first(port_);
  first.send(to_text({.target = "/healthz"}));
  EXPECT_EQ(first.read().result_int(), 200u);
  const auto refused = get("/healthz");
  EXPECT_EQ(refused.result_int(), 503u);
  EXPECT_EQ(refused[beast::http::field::retry_after], "1");
  EXPECT_EQ(code_of(refused), "overloaded");
  first.hang_up();
  while (get("/healthz").result_int() != 200) continue;
}

TEST_F(AbuseTest, OneLongPollTooManyIsToldSoAndThePlaceIsFreeAgainAfterwards) {
  serve_with({.long_polls = 1});
  Peer waiting(port_);
  waiting.send(to_text({.method = "POST", .target = wait_for_work, .body = a_minute}));
  await_metric("ff_http_long_polls", 1);
  for (const char* accept : {"*/*", "text/event-stream"}) {
    const auto refused = get("/v1/events", fmt::format("Accept: {}\r\n", accept));
    EXPECT_EQ(refused.result_int(), 429u);
    EXPECT_EQ(refused[beast::http::field::retry_after], "1");
    EXPECT_EQ(code_of(refused), "resource_exhausted");
  }
  waiting.hang_up();
  await_metric("ff_http_long_polls", 0);
  EXPECT_EQ(get("/v1/events").result_int(), 200u);
}

TEST_F(AbuseTest, AHeaderThatComesByteByByteIsAnsweredWith408) {
  serve_with({.header_timeout = milliseconds{50}});
  Peer slow(port_);
  std::string_view header = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
  slow.send(header);
  // As slowly as the server allows: one more byte whenever it has done something else.
  while (slow.socket().available() == 0) {
    slow.send("x");
    get("/healthz");
  }
  EXPECT_THAT(slow.read_all(),
              ::testing::AllOf(StartsWith("HTTP/1.1 408 "), HasSubstr("request_timeout")));
  expect_nothing_held();
}

TEST_F(AbuseTest, ABodyThatDoesNotComeIsAnsweredWith408) {
  serve_with({.body_timeout = milliseconds{50}});
  const std::string begun =
      "POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  EXPECT_THAT(say_and_wait(begun + "Content-Length: 100\r\n\r\n{"), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(say_and_wait(begun + "Transfer-Encoding: chunked\r\n\r\n5\r\n{"),
              StartsWith("HTTP/1.1 408 "));
  expect_nothing_held();
}

TEST_F(AbuseTest, AClientThatAsksNothingIsLetGo) {
  serve_with({.idle_timeout = milliseconds{50}});
  EXPECT_EQ(say_and_wait(""), "");
  EXPECT_THAT(say_and_wait(to_text({.target = "/healthz"})), StartsWith("HTTP/1.1 200 "));
  expect_nothing_held();
}

TEST_F(AbuseTest, AClientThatDoesNotReadItsAnswerIsLetGo) {
  serve_with({.write_timeout = milliseconds{100}});
  const auto id =
      submit(fmt::format(R"({{"kind":"k","payload":"{}"}})", std::string(900'000, 'x')));
  Peer deaf(port_);
  deaf.socket().set_option(asio::socket_base::receive_buffer_size(4096));
  const auto ask = to_text({.target = "/v1/executions/" + id + "/payload"});
  for (int i = 0; i < 20; ++i) deaf.send(ask);
  await_metric("ff_http_connections", 2);
  await_metric("ff_http_connections", 1);
}

TEST_F(AbuseTest, AnOversizedRequestIsRefusedEvenIfTheClientKeepsSending) {
  serve();
  constexpr std::size_t too_large = base64_encoded_size(limits::payload_bytes_max) + (2 << 20);
  const std::string begun =
      "POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const std::string rest(too_large, ' ');
  const auto refused = ::testing::AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("payload_too_large"),
                                        HasSubstr("Connection: close"));
  EXPECT_THAT(say(fmt::format("{}Content-Length: {}\r\n\r\n", begun, too_large)), refused);
  EXPECT_THAT(say(fmt::format("{}Content-Length: {}\r\n\r\n{}", begun, too_large, rest)), refused);
  EXPECT_THAT(say(begun + "Content-Length: 18446744073709551615\r\n\r\n"), refused);
  std::string chunks;
  for (std::size_t sent = 0; sent < too_large; sent += 65536)
    chunks += "10000\r\n" + std::string(65536, ' ') + "\r\n";
  EXPECT_THAT(say(begun + "Transfer-Encoding: chunked\r\n\r\n" + chunks), refused);
  EXPECT_THAT(say("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') +
                  "\r\n\r\n"),
              ::testing::AllOf(StartsWith("HTTP/1.1 431 "), HasSubstr("headers_too_large")));
  std::string many;
  for (int i = 0; i < 4'000; ++i) many += fmt::format("X{}: y\r\n", i);
  EXPECT_THAT(say("GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + many + "\r\n"),
              StartsWith("HTTP/1.1 431 "));
  expect_nothing_held();
}

TEST_F(AbuseTest, AllRequestsTogetherAreReadWithinTheLimit) {
  serve_with({.body_bytes = 1000, .body_bytes_each = 100});
  const std::string begun =
      "POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  Peer first(port_);
  first.send(begun + "Content-Length: 2000\r\n\r\n" + std::string(1000, ' '));
  await_metric("ff_http_body_bytes", 900);
  const auto refused = ::testing::AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("Retry-After: 1"),
                                        HasSubstr("overloaded"));
  const std::string blanks(210, ' ');
  EXPECT_THAT(say(begun + "Content-Length: 210\r\n\r\n" + blanks), refused);
  EXPECT_THAT(say(begun + "Transfer-Encoding: chunked\r\n\r\nd2\r\n" + blanks), refused);
  submit();  // small enough to need no share
  first.hang_up();
  await_metric("ff_http_body_bytes", 0);
}

TEST_F(AbuseTest, AnAnnouncedBodyTakesNothingBeforeItArrives) {
  serve_with({.body_bytes = 1000, .body_bytes_each = 0});
  std::vector<std::unique_ptr<Peer>> silent;
  for (int i = 0; i < 10; ++i) {
    silent.push_back(std::make_unique<Peer>(port_));
    silent.back()->send(
        "POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n");
    silent.back()->read_until("100 Continue\r\n\r\n");
  }
  EXPECT_EQ(metric("ff_http_body_bytes"), 0);
  submit();
}

TEST_F(AbuseTest, ALongPollHoldsNoMoreThanItsOwnBody) {
  serve_with({.body_bytes_each = 0});
  Peer waiting(port_);
  waiting.send(
      fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n11\r\n{}\r\n0\r\n\r\n",
                  wait_for_work, a_minute));
  await_metric("ff_http_long_polls", 1);
  EXPECT_EQ(metric("ff_http_body_bytes"), 17);
}

TEST_F(AbuseTest, EveryBeginningOfARequestLeavesNothingBehind) {
  serve();
  const auto whole =
      "POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"kin\r\n7\r\nd\":\"k\"}\r\n0\r\n\r\n" +
      to_text({.method = "POST", .target = wait_for_work, .body = a_minute});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Peer peer(port_);
    peer.send(whole.substr(0, size));
    if (size % 2 == 0) peer.say_no_more();
  }
  expect_nothing_held();
}

TEST_F(AbuseTest, AClientThatGoesWhileItWaitsIsNoticedEvenBehindItsNextRequest) {
  serve();
  Peer waiting(port_);
  waiting.send(to_text({.method = "POST", .target = wait_for_work, .body = a_minute}));
  await_metric("ff_http_long_polls", 1);
  waiting.send(to_text({.target = "/healthz"}));
  waiting.hang_up();
  expect_nothing_held();
}

TEST_F(AbuseTest, ARequestSentDuringALongPollIsAnsweredNext) {
  serve();
  Peer waiting(port_);
  waiting.send(to_text({.method = "POST", .target = wait_for_work, .body = a_minute}));
  await_metric("ff_http_long_polls", 1);
  waiting.send(to_text({.target = "/healthz"}));
  submit();
  EXPECT_THAT(waiting.read().body(), HasSubstr("lease_id"));
  EXPECT_THAT(waiting.read().body(), HasSubstr("version"));
}

TEST_F(AbuseTest, ManyRequestsAtOnceAreAnsweredInTheirOrder) {
  serve();
  Peer peer(port_);
  std::string all;
  for (int i = 0; i < 100; ++i)
    all += to_text({.target = "/healthz", .headers = fmt::format("X-Request-Id: {}\r\n", i)});
  peer.send(all);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(peer.read()["X-Request-Id"], std::to_string(i));
}

TEST_F(AbuseTest, OldClientsGetOneAnswer) {
  serve();
  for (const char* header : {"", "Connection: keep-alive\r\n"})
    EXPECT_THAT(say_and_wait(fmt::format("GET /healthz HTTP/1.0\r\n{}\r\n", header)),
                ::testing::AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Connection: close")));
}

TEST_F(AbuseTest, HeadIsGetWithoutABodyAndTheConnectionGoesOn) {
  serve();
  Peer peer(port_);
  const auto head = [&](const char* target, const char* headers = "") {
    peer.send(to_text({.method = "HEAD", .target = target, .headers = headers}));
    return peer.read(false);
  };
  const auto healthy = head("/healthz");
  EXPECT_EQ(healthy.result_int(), 200u);
  EXPECT_NE(healthy[beast::http::field::content_length], "0");
  EXPECT_EQ(head("/v1/events", "Accept: text/event-stream\r\n").result_int(), 200u);
  const auto wrong = head("/v1/backups");
  EXPECT_EQ(wrong.result_int(), 405u);
  EXPECT_EQ(wrong[beast::http::field::allow], "POST");
  peer.send(to_text({.target = "/healthz"}));
  EXPECT_EQ(peer.read().result_int(), 200u);
}

TEST_F(AbuseTest, AClientThatAsksForTheEndOfItsConnectionGetsIt) {
  serve();
  for (const char* begun : {"GET /healthz", "GET /nothing", "DELETE /healthz"})
    EXPECT_THAT(say_and_wait(fmt::format(
                    "{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", begun)),
                ::testing::AllOf(StartsWith("HTTP/1.1 "), HasSubstr("Connection: close\r\n")));
}

TEST_F(AbuseTest, ARequestHasOneHost) {
  serve();
  for (const char* hosts : {"", "Host: localhost\r\nHost: localhost\r\n"})
    EXPECT_THAT(
        say_and_wait(fmt::format("GET /healthz HTTP/1.1\r\n{}Connection: close\r\n\r\n", hosts)),
        StartsWith("HTTP/1.1 400 "));
}

TEST_F(AbuseTest, AnswersCarryADateAndNoLengthWithoutContent) {
  serve();
  const auto none = post("/v1/workers/w/claim", "{}");
  EXPECT_EQ(none.result_int(), 204u);
  EXPECT_EQ(none.count(beast::http::field::content_length), 0u);
  EXPECT_THAT(std::string(none[beast::http::field::date]),
              ::testing::MatchesRegex("[A-Z][a-z]+, [0-9]+ [A-Z][a-z]+ 20[0-9]+ [0-9:]+ GMT"));
}

TEST_F(AbuseTest, ARefusedBodyIsNotAskedFor) {
  serve();
  const auto answer =
      say("POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Type: "
          "application/json\r\n"
          "Content-Length: 12\r\n\r\n");
  EXPECT_THAT(answer,
              ::testing::AllOf(StartsWith("HTTP/1.1 404 "), Not(HasSubstr("100 Continue"))));
}

TEST_F(AbuseTest, GarbageIsRefused) {
  serve();
  const std::string zero("GET /health\0z HTTP/1.1\r\n\r\n", 26);
  for (const auto& garbage :
       {std::string("EHLO mail\r\n\r\n"), std::string("\x16\x03\x01\x02\x05\x01\x01\xfc\x03\x03"),
        std::string("GET /healthz HTTP/9.9\r\n\r\n"), zero,
        std::string("GET /healthz HTTP/1.1\r\nX Y: z\r\n\r\n"),
        std::string("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\x01\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
        std::string("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nGET /healthz"),
        std::string("POST /v1/executions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                    "chunked\r\n\r\nzz\r\n")}) {
    const auto answer = say(garbage);
    EXPECT_THAT(answer, ::testing::AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("invalid_input"),
                                         HasSubstr("Connection: close")))
        << garbage;
  }
  expect_nothing_held();
}

TEST_F(AbuseTest, OddPathsAndQueriesAreRefusedAndAnswersStayJson) {
  serve();
  const auto id = submit();
  const auto code = [&](const std::string& target) { return code_of(get(target)); };
  EXPECT_EQ(code("/v1/executions/%00"), "invalid_input");
  EXPECT_EQ(code("/v1/executions/%ff%fe"), "invalid_input");
  EXPECT_EQ(code("/v1/executions/..%2f..%2fetc"), "invalid_input");
  EXPECT_EQ(code("/v1/executions/../../etc"), "route_not_found");
  EXPECT_EQ(code("/v1/executions/%zz"), "route_not_found");
  EXPECT_EQ(code("/v1/executions/\xff"), "route_not_found");
  EXPECT_EQ(code("/%76%31/executions?limit=x"), "invalid_input");
  EXPECT_EQ(code("/v1/executions?%ff=1"), "invalid_input");
  EXPECT_EQ(code("/v1/executions?tag=%ff"), "invalid_input");
  EXPECT_EQ(code("/v1/executions?namespace=%00"), "invalid_input");
  EXPECT_EQ(code("/v1/executions?a%00b=1"), "unknown_field");
  EXPECT_EQ(code("*"), "route_not_found");
  EXPECT_EQ(code_of(post("/v1/executions/" + id + "/cancel?reason=%ff", "{}")), "invalid_input");
  EXPECT_EQ(body_of(get("/v1/executions/" + id)).at("state"), "waiting");
}

TEST_F(AbuseTest, ABodyIsRefusedUnreadWhereNoneBelongs) {
  serve();
  const auto refused = ::testing::AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("takes no body"));
  for (const char* begun : {"GET /healthz", "GET /v1/executions", "DELETE /v1/budgets/x"})
    for (const char* body : {"Content-Length: 1000000", "Transfer-Encoding: chunked"})
      EXPECT_THAT(say(fmt::format("{} HTTP/1.1\r\nHost: localhost\r\n{}\r\n\r\n", begun, body)),
                  refused);
  EXPECT_EQ(get("/healthz", "Content-Length: 0\r\n").result_int(), 200u);
}

TEST_F(AbuseTest, StopsAtOnceAlthoughClientsAreHalfWayThrough) {
  serve_with({.connections = 2});
  Peer refused_body(port_);
  refused_body.send("POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n");
  refused_body.read_until("\r\n\r\n");
  Peer idle(port_);
  idle.send(to_text({.target = "/healthz"}));
  idle.read();
  Peer turned_away(port_);
  turned_away.read_until("\r\n\r\n");
  const auto began = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{4});
}

TEST_F(AbuseTest, ManyWhoWaitAreAllWokenAndEachGetsItsOwn) {
  constexpr std::size_t many = 500;
  serve();
  std::vector<std::unique_ptr<Peer>> waiting;
  for (std::size_t i = 0; i < many; ++i) {
    waiting.push_back(std::make_unique<Peer>(port_));
    waiting.back()->send(to_text({.method = "POST", .target = wait_for_work, .body = a_minute}));
  }
  await_metric("ff_claims_waiting", many);
  std::set<std::string> submitted, claimed;
  Peer submitter(port_);
  for (std::size_t i = 0; i < many; ++i) {
    submitter.send(
        to_text({.method = "POST", .target = "/v1/executions", .body = R"({"kind":"k"})"}));
    submitted.emplace(body_of(submitter.read()).at("id").as_string());
  }
  for (const auto& peer : waiting) {
    const auto executions = body_of(peer->read()).at("executions").as_array();
    ASSERT_EQ(executions.size(), 1u);
    EXPECT_TRUE(claimed.emplace(executions[0].as_object().at("id").as_string()).second);
  }
  EXPECT_EQ(claimed, submitted);
}

}  // namespace
}  // namespace ff::http::test
