#include "http/server/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "store/embedded/embedded.hpp"
#include "tests/support/blocking.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::http {
namespace {

namespace json = boost::json;
using asio::ip::tcp;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    auto store =
        must(embedded::open({.directory = temp_.path(), .clock = std::make_shared<SystemClock>()}));
    engine_ = std::make_unique<LocalEngine>(std::move(store), LocalEngineOptions{.scan = false});
    auto listener = must(Listener::bind("127.0.0.1:0"));
    port_ = listener.port();
    server_ = std::make_unique<Server>(*engine_, std::move(listener));
  }

  tcp::socket connect() {
    tcp::socket socket(context_);
    socket.connect({asio::ip::make_address("127.0.0.1"), port_});
    return socket;
  }

  // Everything the server says until it closes.
  static std::string read_all(tcp::socket& socket) {
    std::string text;
    boost::system::error_code ended;
    asio::read(socket, asio::dynamic_buffer(text), ended);
    return text;
  }

  std::string exchange(const std::string& text) {
    auto socket = connect();
    boost::system::error_code ignored;  // the server may refuse before it has read everything
    asio::write(socket, asio::buffer(text), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
    return read_all(socket);
  }

  static std::string post(const std::string& path, const std::string& body) {
    return fmt::format(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: "
        "application/json\r\n"
        "Content-Length: {}\r\n\r\n{}",
        path, body.size(), body);
  }
  static std::string get(const std::string& path) {
    return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
  }

  ff::test::TempDirectory temp_;
  asio::io_context context_;
  std::unique_ptr<LocalEngine> engine_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

TEST_F(ServerTest, SaysThatItIsHealthy) {
  EXPECT_THAT(
      exchange(get("/healthz")),
      ::testing::AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr(R"({"status":"ok","version":)")));
}

TEST_F(ServerTest, AnswersASubmissionWith201AndADuplicateWith200) {
  const auto body = R"({"kind":"greet","id":"{fp:7}:01920000-0000-7000-8000-000000000001"})";
  EXPECT_THAT(
      exchange(post("/v1/executions", body)),
      ::testing::AllOf(StartsWith("HTTP/1.1 201 Created"), HasSubstr(R"("state":"waiting")")));
  EXPECT_THAT(exchange(post("/v1/executions", body)),
              ::testing::AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr(R"("duplicate":true)")));
}

TEST_F(ServerTest, ExplainsWhatIsWrong) {
  const auto problem = [](int status, const char* code) {
    return ::testing::AllOf(StartsWith(fmt::format("HTTP/1.1 {} ", status)),
                            HasSubstr("Content-Type: application/problem+json"),
                            HasSubstr(fmt::format(R"("code":"{}")", code)));
  };
  EXPECT_THAT(exchange(post("/v1/executions", "{")), problem(400, "invalid_json"));
  EXPECT_THAT(exchange(post("/v1/executions", R"({"kind":"k","x":1})")),
              problem(400, "unknown_field"));
  EXPECT_THAT(exchange(get("/v1/executions/42")), problem(400, "invalid_input"));
  EXPECT_THAT(exchange(get("/v1/executions/%7Bfp:7%7D:01920000-0000-7000-8000-000000000001")),
              problem(404, "execution_not_found"));
  EXPECT_THAT(exchange(get("/nothing")), problem(404, "route_not_found"));
  EXPECT_THAT(exchange(get("/v1/backups")),
              ::testing::AllOf(problem(405, "method_not_allowed"), HasSubstr("Allow: POST")));
}

TEST_F(ServerTest, AnswersAResultThatIsAbsentWith204) {
  const std::string path = "/v1/executions/%7Bfp:7%7D:01920000-0000-7000-8000-000000000001";
  exchange(post("/v1/executions",
                R"({"kind":"greet","id":"{fp:7}:01920000-0000-7000-8000-000000000001"})"));
  const auto claimed = exchange(post(path + "/claim", R"({"worker":"w"})"));
  const auto body = json::parse(claimed.substr(claimed.find("\r\n\r\n") + 4)).as_object();
  const json::object end{{"lease_id", body.at("lease_id")},
                         {"lease_epoch", body.at("lease_epoch")},
                         {"attempt_id", body.at("attempt_id")}};
  EXPECT_THAT(exchange(post(path + "/complete", json::serialize(end))),
              HasSubstr(R"({"status":"completed","state":"completed"})"));
  EXPECT_THAT(exchange(get(path + "/result")),
              ::testing::AllOf(StartsWith("HTTP/1.1 204 "), ::testing::EndsWith("\r\n\r\n")));
}

TEST_F(ServerTest, AnswersABatchWithAResultForEachItem) {
  const auto answer =
      exchange(post("/v1/executions/batch",
                    R"({"executions":[{"kind":"a"},{"kind":"b","priority":9001},{"kind":"c"}]})"));
  EXPECT_THAT(answer,
              ::testing::AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr(R"("state":"waiting")"),
                               HasSubstr(R"({"status":"error","error":{"title":"invalid_input")"),
                               HasSubstr(R"("field":"priority")")));
}

TEST_F(ServerTest, RefusesWhatIsTooLarge) {
  EXPECT_THAT(exchange(post("/v1/executions", std::string(2 * limits::batch_bytes_max, ' '))),
              StartsWith("HTTP/1.1 413 "));
  const auto big_payload =
      fmt::format(R"({{"kind":"k","payload":"{}"}})", std::string(1024 * 1024 + 1, 'x'));
  EXPECT_THAT(exchange(post("/v1/executions", big_payload)),
              ::testing::AllOf(StartsWith("HTTP/1.1 413 "), HasSubstr("payload_too_large")));
  EXPECT_THAT(exchange("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " +
                       std::string(20'000, 'x') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
}

TEST_F(ServerTest, RefusesWhatIsNotHttp) {
  EXPECT_THAT(exchange("EHLO mail\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(exchange("GET /healthz HTT"), "");
}

TEST_F(ServerTest, KeepsAConnectionForTheNextRequest) {
  auto socket = connect();
  const std::string first = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  asio::write(socket, asio::buffer(first + get("/healthz")));
  const auto both = read_all(socket);
  EXPECT_NE(both.find("HTTP/1.1 200 OK"), both.rfind("HTTP/1.1 200 OK"));
}

TEST_F(ServerTest, GivesNoWorkToAClientThatHasGone) {
  auto gone = connect();
  asio::write(gone,
              asio::buffer(post("/v1/workers/gone/claim-with-lease", R"({"wait_ms":60000})")));
  auto waiting = connect();
  gone.close();
  asio::write(waiting,
              asio::buffer(post("/v1/workers/here/claim-with-lease", R"({"wait_ms":60000})")));
  // The work comes after the server has seen that the first client left.
  exchange(get("/healthz"));
  std::string answer;
  while (answer.empty()) {
    exchange(post("/v1/executions", R"({"kind":"greet"})"));
    if (waiting.available() > 0) answer = read_all(waiting);
  }
  EXPECT_THAT(answer, HasSubstr("lease_id"));
}

TEST_F(ServerTest, StopsWhileAClientWaits) {
  auto waiting = connect();
  asio::write(waiting,
              asio::buffer(post("/v1/workers/w/claim-with-lease", R"({"wait_ms":60000})")));
  auto idle = connect();
  exchange(get("/healthz"));  // by now the server has both of them
  server_.reset();
  EXPECT_THAT(read_all(waiting), HasSubstr(R"({"status":"empty","executions":[]})"));
  EXPECT_EQ(read_all(idle), "");
}

TEST_F(ServerTest, AnswersAClientThatHasSaidAllItWillSay) {
  exchange(post("/v1/executions", R"({"kind":"greet"})"));
  EXPECT_THAT(exchange(post("/v1/workers/w/claim-with-lease", R"({"wait_ms":60000})")),
              HasSubstr("lease_id"));
  EXPECT_THAT(exchange(post("/v1/workers/w/claim-with-lease", R"({"wait_ms":60000})")),
              HasSubstr(R"({"status":"empty","executions":[]})"));
}

TEST_F(ServerTest, LetsAClientGoOnThatAsksFirst) {
  auto socket = connect();
  asio::write(socket, asio::buffer(std::string("POST /v1/executions HTTP/1.1\r\nHost: localhost\r\n"
                                               "Connection: close\r\nExpect: 100-continue\r\n"
                                               "Content-Type: application/json\r\n"
                                               "Content-Length: 12\r\n\r\n")));
  std::string told(25, ' ');
  asio::read(socket, asio::buffer(told));
  EXPECT_EQ(told, "HTTP/1.1 100 Continue\r\n\r\n");
  asio::write(socket, asio::buffer(std::string(R"({"kind":"k"})")));
  EXPECT_THAT(read_all(socket), StartsWith("HTTP/1.1 201 "));
}

TEST_F(ServerTest, AnswersHeadWithoutABody) {
  EXPECT_THAT(exchange("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
              ::testing::EndsWith("\r\n\r\n"));
}

}  // namespace
}  // namespace ff::http
