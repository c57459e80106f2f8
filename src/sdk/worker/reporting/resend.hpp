// Calls of a handler to the engine, repeated while the engine cannot be reached.
#pragma once

#include <thread>

#include "base/random.hpp"
#include "sdk/client/blocking.hpp"
#include "sdk/worker/reporting/retry_pause.hpp"

namespace ff {

inline constexpr Millis resend_limit = std::chrono::seconds{30};

// Runs an operation that is safe to repeat until there is a reply that a further try would not change, or
// the time is over.
template <class Op>
Result<typename Op::Reply> resend(Engine& engine, const Op& operation) {
  const auto until = std::chrono::steady_clock::now() + resend_limit;
  SystemRandom random;
  RetryPause pause(random, Millis{50}, Millis{2000});
  while (true) {
    auto reply = run_within({.timeout = resend_limit}, engine, operation);
    if (reply || !reply.error().retryable()) return reply;
    const auto wait = pause.next();
    if (std::chrono::steady_clock::now() + wait > until) return reply;
    std::this_thread::sleep_for(wait);
  }
}

}  // namespace ff
