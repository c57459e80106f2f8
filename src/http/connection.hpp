// One client's connection to the server.
#pragma once

#include <flowfabric/engine.hpp>

#include <memory>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "http/message_io.hpp"
#include "http/routes.hpp"

namespace ff::http {

// Answers requests one after the other. Everything about it happens on the socket's strand.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, Engine& engine);

  asio::any_io_executor strand() { return stream_.socket.get_executor(); }

  // Until the client hangs up or misbehaves, or close() is called.
  asio::awaitable<void> serve();

  // From any thread: no further request and no more waiting; with `now`, cuts even a running one.
  void close(bool now);

 private:
  enum class Keep { open, close };

  asio::awaitable<bool> serve_one();
  asio::awaitable<error_code> read_request(RequestParser& parser);
  asio::awaitable<void> refuse(error_code failed);
  asio::awaitable<void> drain();
  asio::awaitable<Response> answer(const Request& request);
  asio::awaitable<Response> respond_or_apologise(Result<Match> matched);
  asio::awaitable<Response> respond_unless_in_vain(Result<Match> matched);
  void watch_for_hang_up();
  bool peer_has_gone();
  void stop_waiting();
  asio::awaitable<bool> send(Response response, Keep keep);

  MessageStream stream_;
  Engine& engine_;
  bool idle_ = false;  // between two requests
  bool closing_ = false;
  asio::cancellation_signal stop_waiting_;  // ends the long poll that runs
};

}  // namespace ff::http
