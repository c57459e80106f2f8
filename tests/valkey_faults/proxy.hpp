// A way to a Valkey server on which things can go wrong.
#pragma once

#include <atomic>
#include <memory>
#include <set>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/runtime.hpp"
#include "valkey/options.hpp"

namespace ff::faults {

class Proxy {
 public:
  explicit Proxy(std::uint16_t to);
  ~Proxy();

  valkey::ClientOptions client_options() const;

  // Garbage in what the server says, once on every connection.
  void corrupt();
  // Nothing gets through any more, in either direction; nobody is told. Connections can still be made.
  void swallow() { swallowing_ = true; }
  // The next answer of the server gets lost, and with it its connection. Messages on channels are no answers.
  void lose_answer() { losing_ = true; }
  bool has_lost_it() const { return !losing_; }
  // How often clients sent something that was swallowed.
  int swallowed() const { return swallowed_; }

 private:
  using Socket = boost::asio::ip::tcp::socket;
  struct Pair {
    Socket client;
    Socket server;
    std::atomic<bool> corrupt = false;
  };

  boost::asio::awaitable<void> accept();
  boost::asio::awaitable<void> serve(std::shared_ptr<Pair> pair);
  boost::asio::awaitable<void> copy(std::shared_ptr<Pair> pair, bool to_client);

  std::uint16_t to_;
  std::atomic<bool> swallowing_ = false;
  std::atomic<int> swallowed_ = 0;
  std::atomic<bool> losing_ = false;
  Runtime runtime_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  std::mutex mutex_;
  std::set<std::shared_ptr<Pair>> pairs_;
};

}  // namespace ff::faults
