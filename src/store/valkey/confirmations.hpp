// Waiting until what was written is on disk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "store/valkey/client_names.hpp"
#include "store/valkey/durability.hpp"

namespace ff::valkey_store {

// A write that a node has answered and that awaits confirmation.
struct Written {
  std::uint16_t slot = 0;
  std::string probe_key;  // in that slot
  std::string run;        // of the server that answered
};

// Asks each run of a server with WAITAOF, for all that wait at a time together, on a connection of its own:
// it blocks the one that it is sent on. All methods on the executor's thread.
class Confirmations {
 public:
  using Done = std::move_only_function<void(Result<void>)>;

  Confirmations(asio::any_io_executor executor, const ClientOptions& options,
                Durability durability);

  // It is safe when `done` is called without an error.
  void add(Written written, Done done);

  // Fails those that wait. From any thread.
  void close() { client_.close(); }

 private:
  struct Waiting {
    Written written;
    Done done;
  };
  struct Round {
    std::vector<Waiting> waiting;
    bool running = false;
  };
  // The answers of one round. One that was sent on to another node comes too late, or says too little.
  struct Answers {
    std::vector<Waiting> waiting;
    Result<Reply> connection = Reply{};  // CLIENT ID
    Result<Reply> write = Reply{};       // ff_confirm
    Result<Reply> wait = Reply{};        // WAITAOF
    Result<Reply> same_connection = Reply{};
  };

  void run(const std::string& server_run);
  void finish(const std::string& server_run, Answers& answers, const Result<Reply>& same_run);
  // The run of which everything up to now is safe.
  Result<std::string> judge(const Answers& answers, const Result<Reply>& same_run) const;
  Result<void> judge_wait(const Result<Reply>& reply) const;

  Durability durability_;
  // By the run of the server that answered: that is certain, while this client may not know yet, or not any
  // more, which node serves a slot.
  std::map<std::string, Round> rounds_;
  Client client_;
};

}  // namespace ff::valkey_store
