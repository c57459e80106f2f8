// An HTTP/1.1 client with kept-open connections.
#pragma once

#include <flowfabric/async.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/transport/stream.hpp"

namespace ff::http {

// May be used from any thread. Sends each request once: nothing is repeated behind the caller's back.
class Client {
 public:
  Client(asio::any_io_executor executor, std::string host, std::string port, std::string token = {},
         std::shared_ptr<TlsContext> tls = {});
  ~Client();

  // A request without an Authorization gets the client's. Fails with unreachable, timed_out or
  // malformed_response.
  Async<Response> send(Request request, std::chrono::milliseconds timeout);

 private:
  struct Connection;
  std::unique_ptr<Connection> take_idle();
  void put_back(std::unique_ptr<Connection> connection);
  Async<Response> exchange(std::unique_ptr<Connection>& connection, Request request,
                           std::chrono::milliseconds timeout);
  Async<void> connect(Connection& connection);

  asio::any_io_executor executor_;
  std::string host_;
  std::string port_;
  std::string authorization_;  // the header's value; empty: none
  std::shared_ptr<TlsContext> tls_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace ff::http
