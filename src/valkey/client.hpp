// A client of a Valkey server or cluster.
#pragma once

#include <flowfabric/async.hpp>

#include <functional>
#include <memory>
#include <vector>

#include "valkey/cluster/slot.hpp"
#include "valkey/protocol/reply.hpp"
#include "valkey/protocol/request.hpp"

namespace ff::valkey {

class Router;

// Keeps one connection per node and sends many requests over it at once. Thread-safe.
//
// Requests to one node are sent in the order of send(), except those that have to be sent again. Whatever
// says "not now" or "not here" (a connection that is lost, a server that is loading, a slot that moves, a
// replica that takes over) is tried again until the request's time is over. An error of a request means
// that the way to Valkey is at fault:
//   store_unavailable   there is no way to the server now; try later
//   timed_out           it did not answer in time, and may have done it
//   unauthenticated     user or password is wrong or missing
//   permission_denied   the user may not do this
//   invalid_input       a setting is wrong: a CA file, a cluster that is none
// Any other error that the server itself reports is a Reply with a ReplyError.
class Client {
 public:
  // Works on any executor: state is kept on a strand of it. Connects when the first request comes.
  Client(asio::any_io_executor executor, ClientOptions options);

  // Answers every pending request with store_unavailable and waits until nothing of it runs any more. The
  // executor must still be running, and not need this thread.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // From any thread. `done` is called exactly once, on the client's executor; it must not block.
  void send(Request request, std::move_only_function<void(Result<Reply>)> done);
  Async<Reply> run(Request request);

  // The primaries as known now: of a cluster none until a first request was answered; otherwise one with
  // all slots.
  std::vector<Node> nodes() const;

  // Answers every pending request, and every later one, with store_unavailable.
  void close();

 private:
  friend class Subscriber;
  std::shared_ptr<Router> router_;
};

}  // namespace ff::valkey
