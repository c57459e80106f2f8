// A port to serve on, taken before anything else is started.
#pragma once

#include <flowfabric/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace ff::http {

// From where a server may be reached.
enum class Reach { loopback, anywhere };

// Bound and listening: clients can connect, and wait until a server takes over.
class Listener {
 public:
  // `address` is IP:PORT, such as 127.0.0.1:9090 or [::1]:9090; port 0 is any free one. Fails with
  // invalid_input, address_in_use or internal.
  static Result<Listener> bind(std::string_view address, Reach reach = Reach::loopback);

  std::string address() const;  // IP:PORT, with the port that it got
  std::uint16_t port() const { return endpoint_.port(); }
  bool is_loopback() const { return endpoint_.address().is_loopback(); }

  // The same listening socket, on another executor; this object is done then.
  boost::asio::ip::tcp::acceptor release_to(const boost::asio::any_io_executor& executor);

 private:
  explicit Listener(boost::asio::ip::tcp::endpoint endpoint)
      : context_(std::make_unique<boost::asio::io_context>()),
        acceptor_(*context_),
        endpoint_(endpoint) {}

  std::unique_ptr<boost::asio::io_context> context_;  // only a place for the acceptor; never run
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ip::tcp::endpoint endpoint_;
};

}  // namespace ff::http
