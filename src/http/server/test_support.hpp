// A server in the test's own process, and clients that say what they like.
#pragma once

#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/json.hpp>

#include "base/clock.hpp"
#include "engine/local_engine.hpp"
#include "http/server/server.hpp"
#include "store/embedded/embedded.hpp"
#include "tests/support/temp_directory.hpp"

namespace ff::http::test {

namespace json = boost::json;
using asio::ip::tcp;

// One connection, one byte after the other.
class Peer {
 public:
  explicit Peer(std::uint16_t port) : socket_(context_) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), port});
  }

  // Errors are ignored: the server may have closed the connection.
  void send(std::string_view bytes) {
    error_code ignored;
    asio::write(socket_, asio::buffer(bytes), ignored);
  }
  Response read(bool has_body = true) {
    ResponseParser parser;
    parser.body_limit(boost::none);
    parser.skip(!has_body);
    error_code failed;
    beast::http::read(socket_, buffer_, parser, failed);
    EXPECT_FALSE(failed) << failed.message();
    return parser.release();
  }
  // Until `mark` is there; everything up to it.
  std::string read_until(std::string_view mark) {
    error_code ended;
    const auto size = asio::read_until(socket_, asio::dynamic_buffer(text_), mark, ended);
    EXPECT_FALSE(ended) << ended.message() << " after " << text_;
    auto part = text_.substr(0, size);
    text_.erase(0, size);
    return part;
  }
  // Everything until the server closes.
  std::string read_all() {
    error_code ended;
    asio::read(socket_, asio::dynamic_buffer(text_), ended);
    return std::exchange(text_, {});
  }
  void say_no_more() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  void hang_up() { socket_.close(); }
  tcp::socket& socket() { return socket_; }

 private:
  asio::io_context context_;
  tcp::socket socket_;
  beast::flat_buffer buffer_;
  std::string text_;
};

struct Ask {
  std::string method = "GET";
  std::string target;
  std::string body = "";
  std::string headers = "";  // whole lines
};

inline std::string to_text(const Ask& ask) {
  const bool typed = ask.headers.find("Content-Type") != std::string::npos;
  return fmt::format(
      "{} {} HTTP/1.1\r\nHost: localhost\r\n{}{}{}\r\n{}", ask.method, ask.target, ask.headers,
      typed || ask.body.empty() ? "" : "Content-Type: application/json\r\n",
      ask.body.empty() ? "" : fmt::format("Content-Length: {}\r\n", ask.body.size()), ask.body);
}

inline std::string bearer(std::string_view token) {
  return fmt::format("Authorization: Bearer {}\r\n", token);
}

// For as long as a connection is open, many threads may ask for it; each asks on a connection of its own.
inline Response ask(std::uint16_t port, const Ask& what) {
  Peer peer(port);
  peer.send(to_text(what));
  return peer.read(what.method != "HEAD");
}

inline json::object body_of(const Response& response) {
  return json::parse(response.body()).as_object();
}
inline std::string text_at(const json::value& object, std::string_view name) {
  return std::string(object.as_object().at(name).as_string());
}
inline std::string code_of(const Response& response) {
  const auto body = body_of(response);
  const auto* code = body.if_contains("code");
  return code ? std::string(code->as_string()) : "";
}

inline std::unique_ptr<LocalEngine> open_engine(const std::filesystem::path& directory,
                                                rocksdb::Env* env = nullptr,
                                                LocalEngineOptions options = {.scan = false}) {
  auto store = must(embedded::open(
      {.directory = directory, .clock = std::make_shared<SystemClock>(), .env = env}));
  return std::make_unique<LocalEngine>(std::move(store), std::move(options));
}

class HttpTest : public ::testing::Test {
 protected:
  void serve(ServerOptions options = {}) {
    if (!engine_) engine_ = open_engine(temp_.path() / "data");
    auto listener = must(Listener::bind("127.0.0.1:0"));
    port_ = listener.port();
    server_ = std::make_unique<Server>(*engine_, std::move(listener), std::move(options));
  }

  Response ask(const Ask& what) const { return test::ask(port_, what); }
  Response get(const std::string& target, const std::string& headers = "") const {
    return ask({.target = target, .headers = headers});
  }
  Response post(const std::string& target, const std::string& body,
                const std::string& headers = "") const {
    return ask({.method = "POST", .target = target, .body = body, .headers = headers});
  }

  std::string submit(const std::string& fields = R"({"kind":"k"})",
                     const std::string& headers = "") const {
    return text_at(body_of(post("/v1/executions", fields, headers)), "id");
  }
  // The fence of a new execution under a lease, with its id.
  json::object claim(const std::string& id, const std::string& headers = "") const {
    const auto claimed =
        body_of(post("/v1/executions/" + id + "/claim", R"({"worker":"w"})", headers));
    return {{"lease_id", claimed.at("lease_id")},
            {"lease_epoch", claimed.at("lease_epoch")},
            {"attempt_id", claimed.at("attempt_id")}};
  }

  // A number of /metrics; 0 if it is not there.
  double metric(const std::string& name, const std::string& headers = "") const {
    const auto text = "\n" + get("/metrics", headers).body();
    const auto at = text.find("\n" + name + " ");
    return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size() + 2));
  }
  // Asks until it is so; who waits in vain is stopped by the test's time limit.
  void await_metric(const std::string& name, double value) const {
    while (metric(name) != value) continue;
  }

  std::shared_ptr<const Access> access(const std::string& tokens) const {
    const auto file = temp_.path() / "tokens.json";
    std::ofstream(file) << R"({"tokens": [)" << tokens << "]}";
    return must(Access::load("", file));
  }

  ff::test::TempDirectory temp_;
  std::unique_ptr<LocalEngine> engine_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

}  // namespace ff::http::test
