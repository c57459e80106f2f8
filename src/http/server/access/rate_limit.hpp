// How often a client may ask where it needs no token of the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <boost/asio/ip/address.hpp>

namespace ff::http {

struct Rate {
  std::uint32_t per_second = 0;
  std::uint32_t burst = 0;  // at once, after a pause; 0: none at all
};

// Counts requests by client address, an IPv6 network (/64) as one address. Memory is fixed: addresses share
// buckets by a secret hash, so that clients can neither make it grow nor choose whose bucket they use up.
// Thread-safe.
class RateLimit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit RateLimit(Rate rate);

  // Counts a request; false if it is one too many.
  bool take(const boost::asio::ip::address& address, TimePoint now);

 private:
  std::size_t bucket_of(const boost::asio::ip::address& address) const;

  const Rate rate_;
  const std::uint64_t seed_;
  std::mutex mutex_;
  std::vector<TimePoint> used_until_;  // when the requests so far are paid for
};

}  // namespace ff::http
