// The HTTP server: an engine behind routes.
#pragma once

#include <flowfabric/engine.hpp>

#include <functional>
#include <memory>
#include <string>

#include "http/server/listener.hpp"
#include "http/server/server_context.hpp"

namespace ff::http {

struct ServerOptions {
  Credentials credentials = {};
  ServerLimits limits = {};
  Cors cors = {};
  // Called when running requests are cut: what they wait for should end. From the thread that stops it.
  std::function<void()> on_cut = {};
};

// Serves on the engine's executor as long as it lives. The engine must outlive it.
class Server {
 public:
  Server(Engine& engine, Listener listener, ServerOptions options = {});

  // Stops accepting, ends long polls early, lets the running requests finish (ten seconds at most),
  // closes. Not from the executor's own threads.
  ~Server();

  const std::string& url() const { return url_; }

  // From now on; connections that are open keep their TLS, but every request is checked anew. Event streams
  // whose token is not valid any more end.
  void exchange(Credentials credentials);

 private:
  class State;
  std::string url_;
  std::unique_ptr<State> state_;
};

}  // namespace ff::http
