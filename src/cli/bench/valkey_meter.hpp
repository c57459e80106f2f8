// Cost of a store on Valkey to its servers.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async/runtime.hpp"
#include "cli/bench/bench.hpp"
#include "valkey/client.hpp"

namespace ff::cli::bench {

// Resource use of Valkey so far, summed over all primaries.
struct ValkeyUse {
  double calls = 0;         // of functions
  double call_us = 0;       // time inside them
  double cpu_us = 0;        // of the processes
  double memory_bytes = 0;  // in use
  double commands = 0;      // all, also those that functions make
};

class ValkeyMeter {
 public:
  // None if the store is on something else.
  static Result<std::unique_ptr<ValkeyMeter>> open(const std::string& url);

  Result<ValkeyUse> read();

  // From here on calls are noted that hold Valkey for a while. False if it does not let this user look.
  bool watch_long_calls();
  struct LongCall {
    double ms = 0;
    std::string what = {};  // the function, or the command
  };
  // The longest one since then, and how many took longer than `limit`. Ends the watch.
  struct LongCalls {
    LongCall longest;
    std::size_t over = 0;
  };
  Result<LongCalls> long_calls(Millis limit);

 private:
  explicit ValkeyMeter(valkey::ClientOptions options) : client_(runtime_.executor(), options) {}
  Result<std::string> info(const valkey::Node& node);
  Result<valkey::Reply> ask(const valkey::Node& node, std::vector<std::string> command);

  Runtime runtime_{1};
  valkey::Client client_;
  std::string slower_than_;  // Valkey's own setting, while calls are noted
};

// Adds what happened since `before` for each of `count`, with names that begin with `valkey_`.
Result<void> add_use(Figures& figures, ValkeyMeter& meter, const ValkeyUse& before, double count);

}  // namespace ff::cli::bench
