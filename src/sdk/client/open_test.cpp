#include <flowfabric/flowfabric.hpp>

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "sdk/client/blocking.hpp"
#include "sdk/sdk_fixture.hpp"

namespace ff {
namespace {

// Answers one request, after a while if it is told to, and keeps its first line.
class OneAnswer {
 public:
  explicit OneAnswer(Millis after = {}) {
    server_ = std::jthread([this, after] {
      auto socket = acceptor_.accept();
      std::string request;
      boost::asio::read_until(socket, boost::asio::dynamic_buffer(request), "\r\n\r\n");
      first_line_ = request.substr(0, request.find('\r'));
      std::this_thread::sleep_for(after);
      const std::string body = R"({"state":"waiting"})";
      const auto reply = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) +
                         "\r\nContent-Type: application/json\r\n\r\n" + body;
      boost::system::error_code gone;
      boost::asio::write(socket, boost::asio::buffer(reply), gone);
    });
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  std::string first_line() {
    server_.join();
    return first_line_;
  }

 private:
  using tcp = boost::asio::ip::tcp;
  boost::asio::io_context context_;
  tcp::acceptor acceptor_{context_, {boost::asio::ip::address_v4::loopback(), 0}};
  std::string first_line_;
  std::jthread server_;
};

const ExecutionId some_id = must(ExecutionId::parse("{fp:1}:01920000-0000-7000-8000-000000000001"));

TEST(Open, NamesWhatItCannotOpen) {
  for (const char* url : {"", "embedded:", "redis://x", "ftp://x", "http://", "https://",
                          "http://x/?a=b", "http://u:p@x"}) {
    const auto engine = open(url);
    ASSERT_FALSE(engine) << url;
    EXPECT_EQ(engine.error().code, Errc::invalid_input) << url;
  }
}

TEST(Open, OfAServerThatIsNotThereFailsAtTheFirstCall) {
  const auto engine = must(open("http://127.0.0.1:1"));
  const auto reply = Client(*engine, {.submit_retry = Millis{0}}).submit({.kind = "k"});
  EXPECT_EQ(reply.error().code, Errc::unreachable);
  EXPECT_THAT(reply.error().message, ::testing::HasSubstr("127.0.0.1:1"));
}

TEST(Open, UrlMayHaveThePrefixOfAProxy) {
  for (const char* prefix : {"/ff", "/ff/"}) {
    OneAnswer server;
    const auto engine = must(open(server.url() + prefix));
    EXPECT_EQ(Client(*engine).state(some_id), ExecutionState::waiting);
    EXPECT_THAT(server.first_line(), ::testing::StartsWith("GET /ff/v1/executions/"));
  }
}

TEST(Open, TimeoutOfAClientOverridesThatOfTheConnection) {
  OneAnswer slow(100ms);
  const auto engine = must(open(slow.url(), {.timeout = 1ms}));
  EXPECT_EQ(Client(*engine, {.timeout = 10s}).state(some_id), ExecutionState::waiting);
}

TEST(Open, TimeoutOfTheConnectionIsForCallsWithoutOneOfTheirOwn) {
  OneAnswer slow(100ms);
  const auto engine = must(open(slow.url(), {.timeout = 1ms}));
  EXPECT_EQ(run_blocking(*engine, GetState{some_id}).error().code, Errc::timed_out);
}

TEST(Open, ErrorsAndLogsShowNoPassword) {
  for (const char* url :
       {"http://me:hunter2@x", "valkey://me:hunter2@", "valkey://me:hun?hunter2@h",
        "redis://me:hunter2@x", "me:hunter2@x", "valkey://x?password=hunter2"})
    EXPECT_THAT(open(url).error().message, ::testing::Not(HasSubstr("hunter2"))) << url;
}

}  // namespace
}  // namespace ff
