// One client's connection to the server.
#pragma once

#include <flowfabric/engine.hpp>

#include <memory>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "http/server/access/namespace_engine.hpp"
#include "http/server/metered_body.hpp"
#include "http/server/routes.hpp"
#include "http/server/server_context.hpp"
#include "http/server/streams/sent_events.hpp"

namespace ff::http {

// Answers requests one after the other. Everything about it happens on the socket's strand.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, ServerContext& context);

  asio::any_io_executor strand() { return stream_.tcp().get_executor(); }

  // Until the client hangs up or misbehaves, or close() is called.
  asio::awaitable<void> serve();

  // Says that there are too many already.
  asio::awaitable<void> turn_away();

  // From any thread: no further request and no more waiting; with `now`, cuts even a running one.
  void close(bool now);

  // From any thread: the server has other credentials, which may end an event stream.
  void check_access();

 private:
  using SteadyClock = std::chrono::steady_clock;
  enum class Keep { open, close };

  // A request from its header on: who sent it, and what for.
  struct Exchange {
    std::string id;
    SteadyClock::time_point began;
    Verb method{};
    Keep keep = Keep::close;  // afterwards
    std::string target = {};
    std::string authorization = {};  // the header, of an event stream
    std::string ticket = {};         // instead of it
    std::string session = {};        // instead of both: of a browser
    std::string allowed_origin = {};  // of a page that may read the response
    Caller caller = {};
    std::optional<Found> found = {};  // none until it is known
    Allowance::Share unread = {};     // for the response, until it is sent
  };

  asio::awaitable<void> ask_for_tls();
  asio::awaitable<bool> serve_one();
  asio::awaitable<error_code> read_header(RequestParser& parser);
  asio::awaitable<Result<void>> read_body(RequestParser& parser, const Route& route);
  Result<void> admit(const RequestParser& parser, Exchange& exchange);
  asio::ip::address address();  // the client's
  Result<void> check_rate(const Route& route);
  asio::awaitable<bool> answer(Exchange& exchange, Request request);
  struct WaitingShare {
    Allowance::Share of_all;
    KeyedAllowance::Share of_holder;
  };
  Result<WaitingShare> share_of_waiting(const Exchange& exchange);
  asio::awaitable<Response> run(Exchange& exchange, Engine& engine, RequestFields fields);
  asio::awaitable<Response> run_admitted(Exchange& exchange, Engine& engine, RequestFields fields);
  asio::awaitable<Response> or_apologise(const Route& route, asio::awaitable<Response> running);
  Result<void> admit_session(const RequestParser& parser, std::string_view authority,
                             Exchange& exchange);
  Response log_in(Exchange& exchange, const Request& request);
  Response log_out(const Exchange& exchange);
  bool is_secure() const { return context_.credentials().tls || context_.limits.behind_https; }
  asio::awaitable<Response> run_webhook(Exchange& exchange, Request request);
  asio::awaitable<Result<void>> check_ticket(const Route& route, Engine& engine,
                                             const RequestFields& fields);
  asio::awaitable<bool> send_events(Exchange& exchange, Result<std::unique_ptr<SentEvents>> events);
  Millis silence_max(const Exchange& exchange) const;
  Allowance::Share share_of_unread(std::size_t bytes);
  std::size_t bytes_to_send();
  asio::awaitable<void> pause();
  std::string cors_lines(const Exchange& exchange) const;
  bool is_still_admitted(Exchange& exchange) const;
  asio::awaitable<void> unless_in_vain(asio::awaitable<void> waiting);
  void watch_for_hang_up();
  asio::awaitable<void> receive_meanwhile();
  void stop_waiting();
  asio::awaitable<void> refuse(const Exchange& exchange, const Error& error);
  asio::awaitable<void> drain();
  // Whether another request can follow.
  asio::awaitable<bool> send(const Exchange& exchange, Response response, Keep keep);
  void conclude(const Exchange& exchange, unsigned status);

  // Sets the deadline of the steps that follow; then they are cancelled, and `late_` is set.
  void allow(std::chrono::milliseconds at_most);
  void allow_for_ever() { deadline_ = SteadyClock::time_point::max(); }
  void look_at_the_clock(SteadyClock::time_point at);

  Stream stream_;
  ServerContext& context_;
  bool idle_ = true;  // no request is at work
  bool closing_ = false;
  bool waiting_ = false;    // a long poll
  bool streaming_ = false;  // events
  bool receiving_ = false;  // receive_meanwhile() is running
  bool gone_ = false;       // the client has hung up while it waited
  SteadyClock::time_point deadline_ = SteadyClock::time_point::max();
  bool late_ = false;
  asio::steady_timer timer_;
  asio::cancellation_signal stop_waiting_;  // ends the long poll that runs
};

}  // namespace ff::http
