// Logs when a server goes away and when it is back; once each, however often it was tried in between.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "base/log.hpp"
#include "valkey/options.hpp"

namespace ff::valkey {

class Outage {
 public:
  void note(const Endpoint& endpoint, std::string_view why) {
    if (since_) return;
    since_ = std::chrono::steady_clock::now();
    log::warn("valkey={} not available, trying again until it is: {}", to_text(endpoint), why);
  }
  void note_end(const Endpoint& endpoint) {
    if (!since_) return;
    const auto lasted = std::chrono::steady_clock::now() - *since_;
    log::info("valkey={} available again after={} ms", to_text(endpoint),
              std::chrono::floor<Millis>(lasted).count());
    since_.reset();
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> since_;
};

}  // namespace ff::valkey
