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

 private:
  explicit ValkeyMeter(valkey::ClientOptions options) : client_(runtime_.executor(), options) {}
  Result<std::string> info(const valkey::Node& node);

  Runtime runtime_{1};
  valkey::Client client_;
};

// Adds what happened since `before` for each of `count`, with names that begin with `valkey_`.
Result<void> add_use(Figures& figures, ValkeyMeter& meter, const ValkeyUse& before, double count);

}  // namespace ff::cli::bench
