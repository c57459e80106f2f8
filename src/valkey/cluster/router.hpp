// Behind a Client: finds the node for each request, and follows the cluster as it changes.
#pragma once

#include <flowfabric/async.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "valkey/network/connection.hpp"
#include "valkey/protocol/refusal.hpp"

namespace ff::valkey {

// send(), nodes() and close() are for any thread; everything else happens on executor(), a strand.
class Router final : public Connection::Owner, public std::enable_shared_from_this<Router> {
 public:
  Router(asio::any_io_executor executor, ClientOptions options);

  void send(Request request, Done done);
  std::vector<Node> nodes() const;
  void close();
  // Blocks until nothing runs any more; after close().
  void wait();

  const asio::any_io_executor& executor() const { return context_->executor; }
  const std::shared_ptr<ConnectionContext>& context() const { return context_; }

  // For those who keep connections of their own: called after each change of the nodes or of the primary,
  // and on close().
  using Watcher = std::function<void()>;
  void watch(std::weak_ptr<Watcher> watcher);
  bool is_closed() const { return closed_; }
  // Begins to follow the cluster; the first request does that, too.
  void start();
  // Asks the cluster for its nodes, soon.
  void want_refresh();

 private:
  struct Held {
    Call call;
    Steady::time_point until;
  };

  void on_answer(Connection& from, Call call, Reply reply) override;
  void on_lost(Connection& connection) override;

  void drain();
  void shut_down();

  // To the connection for its route; what has none yet is held.
  void dispatch(Call call);
  // Fails with not_ready if that may change soon.
  Result<Connection*> connection_for(const Route& route);
  Connection* any_connection();
  Connection& connection_to(const Endpoint& endpoint);
  void flush();

  void redirect(Connection& from, Call call, const Refusal& refusal);
  void on_replica(Connection& from);
  void hold(Call call, std::string trouble);
  void retry_held(bool all);
  void reject_held(const Error& error);
  void arm_retry();
  void arm_sweep();
  void sweep();

  // follow_cluster.cpp
  asio::awaitable<void> follow_cluster();
  void note_refresh(const Result<void>& refreshed);
  Async<void> refresh();
  std::vector<std::shared_ptr<Connection>> whom_to_ask();
  Async<Reply> ask_for_slots(Connection& connection);
  Result<std::vector<Node>> nodes_in(const Reply& reply, const Endpoint& asked) const;
  void apply(std::vector<Node> nodes);
  void move_calls();
  bool is_anyone_stuck() const;
  void tell_watchers();

  std::shared_ptr<ConnectionContext> context_;

  mutable std::mutex mutex_;  // guards the next four
  std::vector<Call> inbox_;
  bool drain_posted_ = false;
  bool inbox_closed_ = false;
  std::vector<Node> nodes_;
  std::vector<Call> drained_;  // empty but for its memory

  bool closed_ = false;
  bool started_ = false;
  std::map<std::string, std::shared_ptr<Connection>> connections_;  // by address
  std::vector<Connection*> by_slot_;  // null: nobody known. Of a cluster only.
  std::vector<Connection*> primaries_;
  std::size_t turn_ = 0;  // whose it is when any will do

  std::vector<Held> held_;  // wait for a better moment
  asio::steady_timer sweep_timer_;
  asio::steady_timer retry_timer_;
  bool sweep_armed_ = false;
  bool retry_armed_ = false;

  asio::steady_timer refresh_timer_;
  bool refresh_wanted_ = false;
  std::string refresh_problem_;
  std::vector<std::weak_ptr<Watcher>> watchers_;
};

}  // namespace ff::valkey
