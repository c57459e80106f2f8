// One connection to one node, which it keeps up and sends many requests over at once.
#pragma once

#include <flowfabric/async.hpp>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>

#include "base/async/coroutine_group.hpp"
#include "valkey/network/outage.hpp"
#include "valkey/network/stream.hpp"
#include "valkey/protocol/call.hpp"
#include "valkey/protocol/reply_reader.hpp"
#include "valkey/protocol/write_batch.hpp"

namespace ff::valkey {

// State shared by the connections of one client.
struct ConnectionContext {
  asio::any_io_executor executor;  // runs one thing at a time
  ClientOptions options;
  Result<std::shared_ptr<TlsContext>> tls;
  CoroutineGroup coroutines;

  // Not connected yet. A unix socket is never under TLS.
  Result<std::shared_ptr<Stream>> make_stream(const Endpoint& endpoint) const;
};

// Requests are written in the order of add(); whatever has gathered goes in one write. Answers are matched
// in order. A connection that is lost is made again, for ever; what had no answer is then sent again, if
// its repeat is safe. Not thread-safe: everything happens on the context's executor.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  class Owner {
   public:
    virtual void on_answer(Connection& from, Call call, Reply reply) = 0;
    // After each failure to connect, too.
    virtual void on_lost(Connection& connection) = 0;

   protected:
    ~Owner() = default;
  };

  // With several endpoints, the next is tried when there is no connection to one. The owner outlives everything but stop().
  Connection(std::shared_ptr<ConnectionContext> context, std::vector<Endpoint> endpoints,
             Owner& owner);

  const Endpoint& endpoint() const { return endpoints_[current_]; }
  bool is_ready() const { return ready_; }
  bool is_idle() const { return calls_.empty(); }
  // See Patience.
  bool is_down() const;
  Error down() const;
  // For how long it has been up.
  Steady::duration age() const { return Steady::now() - opened_at_; }

  // Connects, if it has not yet. What is added is sent by the next flush().
  void add(Call call);
  void flush();

  // Takes back what has not been written.
  std::vector<Call> take_waiting();

  // Answers the calls whose time is over, and gives the connection up if it is stuck.
  void sweep(Steady::time_point now);

  // Makes the connection anew, if there is one; to the next endpoint.
  void leave(std::string why);

  // For good: answers everything with `error`.
  void stop(const Error& error);

 private:
  asio::awaitable<void> run();
  asio::awaitable<Result<void>> open();
  asio::awaitable<std::string> read_answers();
  asio::awaitable<void> pause(Millis time);
  bool take_answers(ReplyReader& reader, std::string& problem);
  void take_answer(Reply reply);
  void reconnect(std::string why);
  void on_written();
  void on_open();
  void on_failed_to_open(const Error& error);
  void settle_written(const std::string& why);
  void use_next_endpoint() { current_ = (current_ + 1) % endpoints_.size(); }
  Error too_late(const Call& call, bool is_written) const;

  std::shared_ptr<ConnectionContext> context_;
  std::vector<Endpoint> endpoints_;
  std::size_t current_ = 0;
  Owner& owner_;

  std::deque<Call> calls_;
  std::size_t written_ = 0;  // so many of them, from the front, are on their way
  WriteBatch batch_;
  bool writing_ = false;
  std::vector<std::vector<std::string>> kept_;  // commands that were answered while being written

  std::shared_ptr<Stream> stream_;
  asio::steady_timer timer_;
  bool started_ = false;
  bool ready_ = false;
  bool leaving_ = false;
  bool stopped_ = false;
  bool unreachable_ = false;  // the last try to connect failed, or the server fell silent before
  unsigned failures_ = 0;     // since the last answer
  std::string problem_;       // why there is no connection; why it was given up
  Steady::time_point opened_at_;
  Steady::time_point lost_at_;  // or first wanted
  Outage outage_;
};

}  // namespace ff::valkey
