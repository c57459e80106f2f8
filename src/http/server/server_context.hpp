// State shared by all connections of a server.
#pragma once

#include <flowfabric/engine.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "http/server/access/access.hpp"
#include "http/server/access/cors.hpp"
#include "http/server/access/rate_limit.hpp"
#include "http/server/access/sessions.hpp"
#include "http/server/allowance.hpp"
#include "http/server/http_metrics.hpp"
#include "http/server/webhooks.hpp"
#include "http/transport/stream.hpp"

namespace ff::http {

// Strangers may have a ticket.
inline constexpr std::size_t tails_of_ticket_max = 64;

struct ServerLimits {
  std::size_t connections = 4'096;
  std::size_t long_polls = 4'096;  // streams of events among them
  std::size_t tails = 4'096;       // readers that follow streams of executions and flows
  std::size_t tails_each = 1'024;  // of one token, if the server has tokens; a ticket has fewer
  // Of events and pages that wait to be read by clients that follow streams: of all together, and of each that is not
  // counted in it.
  std::size_t unread_bytes = std::size_t{128} << 20;
  std::size_t unread_bytes_each = 16 << 10;
  std::chrono::milliseconds unread_pause{1'000};    // of a reader for whose events there is no room
  std::size_t stream_ops = 64;                      // reads and tails of attempts' streams
  std::size_t body_bytes = std::size_t{256} << 20;  // of all request bodies together
  std::size_t body_bytes_each = 16 << 10;           // of each body, not counted in `body_bytes`
  std::chrono::milliseconds idle_timeout{60'000};   // between two requests
  std::chrono::milliseconds header_timeout{10'000};  // from the first byte of a request
  std::chrono::milliseconds body_timeout{60'000};
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::milliseconds stream_silence{15'000};     // of an event stream, before a sign of life
  Rate waitpoint_rate{.per_second = 20, .burst = 100};  // of one address, by holders of tokens
  Rate webhook_rate{.per_second = 100, .burst = 1'000};
  Rate login_rate{.per_second = 1, .burst = 20};  // of one address, whether they succeed or not
  SessionLimits sessions = {};
  bool behind_https = false;  // a proxy in front of the server speaks TLS
};

// Replaceable while a server runs.
struct Credentials {
  std::shared_ptr<const Access> access = Access::open_to_all();
  std::shared_ptr<TlsContext> tls = {};  // none: plain HTTP
  std::shared_ptr<const Webhooks> webhooks = std::make_shared<const Webhooks>();
};

// Thread-safe.
struct ServerContext {
  ServerContext(Engine& served, const ServerLimits& limited, Credentials presented, Cors pages,
                bool listens_on_loopback)
      : engine(served),
        on_loopback(listens_on_loopback),
        limits(limited),
        cors(std::move(pages)),
        connections(limited.connections),
        long_polls(limited.long_polls),
        tails(limited.tails),
        tails_by_token(limited.tails_each),
        tails_by_ticket(std::min(limited.tails_each, tails_of_ticket_max)),
        unread_bytes(limited.unread_bytes),
        stream_ops(limited.stream_ops),
        body_bytes(limited.body_bytes),
        waitpoint_rate(limited.waitpoint_rate),
        webhook_rate(limited.webhook_rate),
        login_rate(limited.login_rate),
        sessions(limited.sessions),
        credentials_(std::move(presented)) {}

  Engine& engine;
  const bool on_loopback;  // it listens there, and nowhere else
  const ServerLimits limits;
  const Cors cors;
  HttpMetrics metrics;
  Allowance connections;
  Allowance long_polls;
  Allowance tails;
  KeyedAllowance tails_by_token;  // by its name
  KeyedAllowance tails_by_ticket;
  Allowance unread_bytes;
  Allowance stream_ops;
  std::atomic<bool> is_stopping = false;
  Allowance body_bytes;
  RateLimit waitpoint_rate;
  RateLimit webhook_rate;
  RateLimit login_rate;
  Sessions sessions;
  std::function<void()> on_session_end = [] {};  // event streams may have to end; set before the first connection

  Credentials credentials() const {
    const std::lock_guard lock(mutex_);
    return credentials_;
  }
  void exchange(Credentials credentials) {
    const std::lock_guard lock(mutex_);
    credentials_ = std::move(credentials);
  }

 private:
  mutable std::mutex mutex_;
  Credentials credentials_;
};

}  // namespace ff::http
