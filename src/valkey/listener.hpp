// One connection of a Subscriber: some channels, at the node that serves them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "valkey/network/connection.hpp"
#include "valkey/network/outage.hpp"
#include "valkey/subscriber.hpp"

namespace ff::valkey {

// Not thread-safe: everything happens on the context's executor.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  struct Task {
    std::vector<Endpoint> endpoints;  // one after the other, until one is there
    std::vector<std::string> channels;
    bool operator==(const Task&) const = default;
  };
  // `on_lost` is called whenever the node is found not to be there, or not to serve the channels.
  Listener(std::shared_ptr<ConnectionContext> context, Task task, Subscriber::Handlers handlers,
           std::function<void()> on_lost);

  const Task& task() const { return task_; }

  // Until close().
  asio::awaitable<void> run();
  void close();
  // Connects anew, as the server may not be a primary any more.
  void look_again();

 private:
  asio::awaitable<Result<void>> open();
  asio::awaitable<Result<void>> check_role();
  asio::awaitable<std::string> listen();
  std::vector<std::vector<std::string>> subscriptions() const;
  bool take(const Reply& reply, std::string& problem);
  void arm_ping();
  void ping(const std::shared_ptr<Stream>& stream);

  std::shared_ptr<ConnectionContext> context_;
  Task task_;
  Subscriber::Handlers handlers_;
  std::function<void()> on_lost_;

  std::size_t current_ = 0;  // of the endpoints
  std::shared_ptr<Stream> stream_;
  std::size_t confirmed_ = 0;  // channels
  asio::steady_timer ping_timer_;
  asio::steady_timer pause_timer_;
  bool heard_ = false;  // anything since the last ping
  bool closed_ = false;
  unsigned failures_ = 0;
  Outage outage_;
};

}  // namespace ff::valkey
