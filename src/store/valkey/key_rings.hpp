// The secrets that sign waitpoint tokens, on Valkey: a ring in every partition of executions, where the
// contract's functions find it. Partition 0 leads. It is changed first, and if that fails nothing is changed; the
// others follow it, and those that could not catch up when a server starts.
#pragma once

#include <map>

#include "store/store.hpp"
#include "store/valkey/calls/functions.hpp"
#include "store/valkey/confirmations.hpp"

namespace ff::valkey_store {

// On the background's thread, except start().
class KeyRings {
 public:
  struct Parts {
    Background& background;
    Client& client;
    Functions& functions;
    Confirmations* confirmations;  // none: what the server answers counts as safe
    const std::optional<WaitpointSecret>& configured;  // the first secret; none: a random one
    bool looks_after_all;  // a server: also brings the other partitions to the ring of partition 0
  };
  explicit KeyRings(Parts parts) : parts_(parts), others_wait_(parts.looks_after_all) {}

  // Makes the ring if there is none; programs that do so at the same time agree on one. Partitions that
  // cannot be reached are left for later. Fails if Valkey refuses.
  Async<void> install();
  // The same, at the cost of one read if there is nothing to do.
  Async<void> install_if_missing();

  template <store::OfKeyRing Op>
  void start(store::Call<Op>& call) {
    parts_.background.answer(call, [this](Op operation) { return answer(std::move(operation)); });
  }

 private:
  using Ring = std::vector<Reply>;  // as stored: field, value, …
  // Runs of servers that wrote something, with a partition of each.
  using Writers = std::map<std::string, PartitionIndex>;

  Async<core::KeyRing> answer(core::ReadKeyRing query);
  Async<RotateSecretReply> answer(core::RotateKeyRing command);

  Async<Ring> read();
  Async<Ring> install_leader();
  Async<void> join_others(const Ring& leading);
  // One function at many partitions, a limited number at a time; without the two parts that say that it worked.
  asio::awaitable<std::vector<Result<std::vector<Reply>>>> call_at(
      std::vector<PartitionIndex> partitions, FunctionCall function, Writers& writers);
  Async<void> confirm(const Writers& writers);

  Parts parts_;
  bool others_wait_;  // for the ring of partition 0
  bool told_of_mismatch_ = false;
};

}  // namespace ff::valkey_store
