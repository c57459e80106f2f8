// Memory of the real server under input that is made to exhaust it (docs/security.md).
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include "tests/end_to_end/cli_test.hpp"

namespace ff::test {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::size_t peak_mib_max = 512;  // as the documentation says
constexpr std::size_t batch_bytes = 26'000'000;
constexpr auto answer_time_max =
    std::chrono::seconds{10};  // on a machine that does other things, too

std::string header(std::string_view request, std::size_t content_length) {
  return fmt::format(
      "{} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
      "{}\r\n\r\n",
      request, content_length);
}

class Connection {
 public:
  explicit Connection(const std::string& url) : socket_(context_) {
    const auto port = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    socket_.connect({asio::ip::address_v4::loopback(), port});
  }
  // The server may refuse a request before it has read all of it.
  void send(std::string_view text) {
    boost::system::error_code ignored;
    asio::write(socket_, asio::buffer(text), ignored);
  }
  http::response<http::string_body> read() {
    http::response_parser<http::string_body> parser;
    parser.body_limit(boost::none);
    boost::beast::flat_buffer buffer;
    boost::system::error_code failed;
    http::read(socket_, buffer, parser, failed);
    EXPECT_FALSE(failed) << failed.message();
    return parser.release();
  }

 private:
  asio::io_context context_;
  tcp::socket socket_;
};

class MemoryTest : public CliTest {
 protected:
  void SetUp() override { server_ = serve("server"); }

  std::size_t peak_mib() const {
    std::ifstream status(fmt::format("/proc/{}/status", server_->pid()));
    for (std::string word; status >> word;)
      if (word == "VmHWM:") {
        std::size_t kib = 0;
        status >> kib;
        return kib / 1024;
      }
    return peak_mib_max;
  }

  http::response<http::string_body> ask(std::string_view request, std::string_view body = "") {
    Connection connection(url_);
    connection.send(header(request, body.size()));
    connection.send(body);
    return connection.read();
  }

  // The server still answers others, and has not grown.
  void expect_well() {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(ask("GET /healthz").result_int(), 200u);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, answer_time_max);
    EXPECT_LT(peak_mib(), peak_mib_max);
  }

  // Sends the body many times at once, and meanwhile looks whether others are answered.
  void expect_refused(const std::string& body, int times) {
    std::vector<std::jthread> senders;
    for (int i = 0; i < times; ++i)
      senders.emplace_back([&] {
        const auto status = ask("POST /v1/executions/batch", body).result_int();
        EXPECT_TRUE(status == 400 || status == 503) << status;
      });
    expect_well();
    senders.clear();
    expect_well();
  }

  std::unique_ptr<Process> server_;
};

TEST_F(MemoryTest, AnnouncedBodiesTakeNone) {
  std::vector<std::unique_ptr<Connection>> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(std::make_unique<Connection>(url_));
    idle.back()->send(header("POST /v1/executions/batch", batch_bytes));
  }
  expect_well();
  for (int i = 0; i < 110; ++i) {
    Connection unwanted(url_);
    unwanted.send(header("GET /healthz", batch_bytes));
    EXPECT_EQ(unwanted.read().result_int(), 400u);
  }
  expect_well();
  EXPECT_EQ(ask("POST /v1/executions", R"({"kind":"small"})").result_int(), 201u);
}

TEST_F(MemoryTest, LargeRefusedBatchesAreBounded) {
  std::string zeros = R"({"executions":[0)";
  while (zeros.size() < batch_bytes) zeros += ",0";
  expect_refused(zeros + "]}", 10);

  std::string texts = R"({"executions":["")";
  for (int i = 0; i < 990'000; ++i) texts += R"(,"aaaaaaaaaaaaaaaaaaaa")";
  expect_refused(texts + "]}", 4);

  expect_refused(R"({"executions":)" + std::string(5'000'000, '[') + "}", 4);
}

TEST_F(MemoryTest, UnfinishedBodiesAreBounded) {
  std::vector<std::unique_ptr<Connection>> unfinished;
  const std::string part(batch_bytes - 1, ' ');
  for (int i = 0; i < 20; ++i) {
    unfinished.push_back(std::make_unique<Connection>(url_));
    unfinished.back()->send(header("POST /v1/executions/batch", batch_bytes));
    unfinished.back()->send(part);
  }
  expect_well();
  EXPECT_EQ(ask("POST /v1/executions", R"({"kind":"small"})").result_int(), 201u);
}

TEST_F(MemoryTest, AClaimOfLargePayloadsIsBounded) {
  const auto payload = std::string(1 << 20, 'x');
  for (int i = 0; i < 40; ++i)
    ASSERT_EQ(ask("POST /v1/executions", fmt::format(R"({{"kind":"k","payload":"{}"}})", payload))
                  .result_int(),
              201u);
  const auto claimed = ask("POST /v1/workers/w/claim-with-lease", R"({"max":256})");
  EXPECT_EQ(claimed.result_int(), 200u);
  EXPECT_LT(claimed.body().size(), 20u << 20);
  expect_well();
}

}  // namespace
}  // namespace ff::test
