// Listens to sharded channels (SSUBSCRIBE) on the nodes that serve them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "valkey/client.hpp"

namespace ff::valkey {

// On connections of its own, which it makes again for ever when they are lost. Thread-safe.
class Subscriber {
 public:
  // Called on the client's executor, one at a time; they must not block.
  struct Handlers {
    std::function<void(std::string_view channel, std::string_view message)> on_message;
    // Messages may have been missed until now: a node's channels have been subscribed to, for the first
    // time or again. In a cluster there is one such call for each node.
    std::function<void()> on_gap;
  };

  // Subscribes in the background. The client must not go before the subscriber.
  Subscriber(Client& client, std::vector<std::string> channels, Handlers handlers);

  // No handler runs any more when it returns. Not from a thread that the executor needs.
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  void close();

 private:
  class Assignment;
  std::shared_ptr<Assignment> assignment_;
};

}  // namespace ff::valkey
