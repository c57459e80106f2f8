// Waiting until what was written is on disk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "store/valkey/durability.hpp"
#include "valkey/client.hpp"

namespace ff::valkey {

// Asks with WAITAOF, for all that wait at a time together, on a connection of its own: it blocks the one
// that it is sent on. All methods on the executor's thread.
class Confirmations {
 public:
  using Done = std::move_only_function<void(Result<void>)>;

  Confirmations(asio::any_io_executor executor, const ClientOptions& options,
                Durability durability);

  // What was answered by the node that serves `slot` is safe when `done` is called without an error.
  void add(std::uint16_t slot, std::string probe_key, Done done);

 private:
  struct Round {
    std::vector<Done> waiting;
    bool running = false;
  };
  void run(std::uint16_t slot, const std::string& probe_key);
  Result<void> judge(const Result<Reply>& reply) const;

  Durability durability_;
  std::map<std::uint16_t, Round> rounds_;  // by slot: one probe key each
  Client client_;
};

}  // namespace ff::valkey
