// Servers that do not keep to the protocol, or to anything.
#include "valkey/test_support.hpp"

namespace ff::valkey::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Socket = FakeServer::Socket;

class FaultTest : public ClientTest {
 protected:
  // Outcome of a request that a server answers with these bytes.
  std::string answer_to_unsafe(std::string bytes, bool hangs_up = false) {
    FakeServer server([bytes, hangs_up](Socket& socket) -> asio::awaitable<void> {
      co_await FakeServer::greet(socket);
      co_await FakeServer::expect(socket, "request\r\n");
      co_await FakeServer::say(socket, bytes);
      if (!hangs_up) co_await FakeServer::wait_for_end(socket);
    });
    const auto client = connect(server.client_options());
    return run(*client, Request{.command = {"request"}, .repeat = Repeat::unsafe});
  }
};

TEST_F(FaultTest, Garbage) {
  for (const char* garbage :
       {"HTTP/1.1 400 Bad Request\r\n\r\n", "*-7\r\n", "$abc\r\n", ":1x\r\n", "%1\r\n+a\r\n+b\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"})
    EXPECT_THAT(
        answer_to_unsafe(garbage),
        ::testing::AllOf(StartsWith("store_unavailable: the connection to Valkey at 127.0.0.1:"),
                         HasSubstr("it sent"), HasSubstr("may or may not")))
        << garbage;
}

TEST_F(FaultTest, MoreAnswersThanRequests) {
  FakeServer server([](Socket& socket) -> asio::awaitable<void> {
    co_await FakeServer::greet(socket);
    co_await FakeServer::expect(socket, "request\r\n");
    co_await FakeServer::say(socket, "+one\r\n+two\r\n");
    co_await FakeServer::wait_for_end(socket);
  });
  const auto client = connect(server.client_options());
  EXPECT_EQ(run(*client, {"request"}), "\"one\"");
  EXPECT_EQ(run(*client, {"request"}), "\"one\"");
  EXPECT_GE(server.connections(), 2);
}

TEST_F(FaultTest, HalfAReply) {
  EXPECT_THAT(answer_to_unsafe("$10\r\nhalf"), StartsWith("timed_out"));
  EXPECT_THAT(answer_to_unsafe("$10\r\nhalf", true),
              ::testing::AllOf(StartsWith("store_unavailable"), HasSubstr("End of file")));
}

TEST_F(FaultTest, AReplyInManyPieces) {
  FakeServer server([](Socket& socket) -> asio::awaitable<void> {
    co_await FakeServer::greet(socket);
    co_await FakeServer::expect(socket, "request\r\n");
    const std::string bytes = "*2\r\n$5\r\nhello\r\n:7\r\n";
    socket.set_option(asio::ip::tcp::no_delay(true));
    for (const char byte : bytes) co_await FakeServer::say(socket, std::string(1, byte));
    co_await FakeServer::wait_for_end(socket);
  });
  const auto client = connect(server.client_options());
  EXPECT_EQ(run(*client, {"request"}), "[\"hello\", 7]");
}

TEST_F(FaultTest, ALineWithoutEnd) {
  EXPECT_THAT(answer_to_unsafe("+" + std::string(1024 * 1024, 'x')),
              HasSubstr("a line of more than"));
}

TEST_F(FaultTest, AnEndlessReply) {
  FakeServer server([](Socket& socket) -> asio::awaitable<void> {
    co_await FakeServer::greet(socket);
    co_await FakeServer::say(socket, "*2000000000\r\n");
    while (true) co_await FakeServer::say(socket, ":1\r\n:2\r\n");
  });
  const auto client = connect(server.client_options());
  EXPECT_THAT(run(*client, Request{.command = {"request"}, .repeat = Repeat::unsafe}),
              ::testing::AnyOf(StartsWith("timed_out"), StartsWith("store_unavailable")));
}

TEST_F(FaultTest, HangsUpAtOnce) {
  FakeServer server([](Socket&) -> asio::awaitable<void> { co_return; });
  const auto client = connect(server.client_options());
  EXPECT_THAT(run(*client, {"request"}), StartsWith("store_unavailable: Valkey at 127.0.0.1:"));
  EXPECT_LT(server.connections(), 12);  // with pauses
}

TEST_F(FaultTest, HangsUpAfterEachGreeting) {
  FakeServer server(
      [](Socket& socket) -> asio::awaitable<void> { co_await FakeServer::greet(socket); });
  const auto client = connect(server.client_options());
  EXPECT_THAT(run(*client, {"request"}), StartsWith("store_unavailable"));
  EXPECT_LT(server.connections(), 12);
}

TEST_F(FaultTest, SaysNothing) {
  FakeServer server(FakeServer::wait_for_end);
  auto options = server.client_options();
  options.connect_timeout = 100ms;
  const auto client = connect(options);
  EXPECT_THAT(
      run(*client, {"request"}),
      ::testing::AllOf(StartsWith("store_unavailable"), HasSubstr("did not answer within 100 ms")));
}

TEST_F(FaultTest, TalksBeforeItIsAsked) {
  FakeServer server([](Socket& socket) -> asio::awaitable<void> {
    co_await FakeServer::say(socket, "+OK\r\n+too much\r\n");
    co_await FakeServer::wait_for_end(socket);
  });
  const auto client = connect(server.client_options());
  EXPECT_THAT(run(*client, {"request"}),
              ::testing::AllOf(StartsWith("store_unavailable"), HasSubstr("it sent")));
}

TEST_F(FaultTest, NotNowMeansAMomentLater) {
  for (const char* word :
       {"LOADING", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "NOREPLICAS"}) {
    FakeServer server([word](Socket& socket) -> asio::awaitable<void> {
      co_await FakeServer::greet(socket);
      for (int i = 0; i < 3; ++i) {
        const std::string answer = fmt::format("-{} not now\r\n", word);
        co_await FakeServer::expect(socket, "request\r\n");
        co_await FakeServer::say(socket, answer);
      }
      co_await FakeServer::expect(socket, "request\r\n");
      co_await FakeServer::say(socket, "+done\r\n");
      co_await FakeServer::wait_for_end(socket);
    });
    const auto client = connect(server.client_options());
    EXPECT_EQ(run(*client, Request{.command = {"request"}, .repeat = Repeat::unsafe}), "\"done\"")
        << word;
  }
}

// The answer to the first request comes while the large ones behind it are still being written.
TEST_F(FaultTest, AnswersBeforeItHasReadEverything) {
  FakeServer server([](Socket& socket) -> asio::awaitable<void> {
    co_await FakeServer::greet(socket);
    co_await FakeServer::expect(socket, "x");
    std::string answers;
    for (int i = 0; i < 20; ++i) answers += "+OK\r\n";
    co_await FakeServer::say(socket, answers);
    co_await FakeServer::wait_for_end(socket);
  });
  auto options = server.client_options();
  options.request_timeout = 5s;
  const auto client = connect(options);
  const std::string large(8 * 1024 * 1024, 'x');
  std::vector<Future> answers;
  for (int i = 0; i < 4; ++i) answers.push_back(start(*client, {.command = {"request", large}}));
  EXPECT_EQ(show(answers.front().get()), "\"OK\"");
  client->close();
}

// MOVED from one server to the other and back, for ever.
TEST_F(FaultTest, NodesThatDisagreeAreNotAskedTooOften) {
  std::atomic<std::uint16_t> port = 0;
  std::atomic<int> asked = 0;
  FakeServer server([&](Socket& socket) -> asio::awaitable<void> {
    co_await FakeServer::greet(socket);
    while (true) {
      std::string bytes(1024, ' ');
      const auto size = co_await socket.async_read_some(asio::buffer(bytes), asio::use_awaitable);
      const bool is_topology = bytes.find("SLOTS") < size;
      asked += is_topology ? 0 : 1;
      std::string answer = fmt::format("-MOVED 1 :{}\r\n", port.load());
      if (is_topology)
        answer = fmt::format("*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$0\r\n\r\n:{}\r\n", port.load());
      co_await FakeServer::say(socket, answer);
    }
  });
  auto options = server.client_options();
  port = std::get<TcpEndpoint>(options.endpoints[0]).port;
  options.cluster = true;
  const auto client = connect(options);
  EXPECT_THAT(
      run(*client, Request{.command = {"request"}, .route = std::uint16_t{1}}),
      ::testing::AllOf(StartsWith("store_unavailable"), HasSubstr("disagree about slot 1")));
  EXPECT_LT(asked, 20);
}

}  // namespace
}  // namespace ff::valkey::test
