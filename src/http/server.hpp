// The HTTP server: an engine behind routes.
#pragma once

#include <flowfabric/engine.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace ff::http {

struct ServerOptions {
  std::string address = "127.0.0.1";  // loopback only: the API has no authentication
  std::uint16_t port = 9090;          // 0: any free one
};

// Serves on the engine's executor from listen() on. The engine must outlive it.
class Server {
 public:
  // Fails with invalid_input (not a loopback address), address_in_use or internal.
  static Result<std::unique_ptr<Server>> listen(Engine& engine, ServerOptions options);

  // Stops accepting, lets the running requests finish (ten seconds at most), closes. Not from the
  // executor's own threads.
  ~Server();

  std::uint16_t port() const;
  std::string url() const;

 private:
  class State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace ff::http
