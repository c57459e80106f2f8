// The metrics of a server and its requests.
#pragma once

#include <chrono>
#include <string>

#include "base/metrics.hpp"
#include "http/server/routes.hpp"

namespace ff::http {

// Thread-safe.
class HttpMetrics {
 public:
  HttpMetrics();

  // `route` is null if the request had none.
  void answered(Verb method, const Route* route, unsigned status,
                std::chrono::steady_clock::duration took);

  // Current use of a server's limits.
  struct Taken {
    std::size_t connections;
    std::size_t long_polls;
    std::size_t tails;
    std::size_t body_bytes;
    std::size_t unread_bytes;
  };
  std::string text(const Taken& taken) const;

 private:
  prometheus::Registry registry_;
  Members<prometheus::Counter> requests_;
  Members<prometheus::Histogram> seconds_;
};

}  // namespace ff::http
