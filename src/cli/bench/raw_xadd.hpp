// The speed of Valkey itself, for comparison with a store on it.
#pragma once

#include <optional>

#include "cli/bench/bench.hpp"

namespace ff::cli::bench {

// Entries per second that pipelined XADD calls add, one call for each entry, by as many writers as the settings say
// with 64 calls under way each. The keys are removed. None if the store is on something else.
Result<std::optional<double>> raw_xadd_rate(const Settings& settings);

}  // namespace ff::cli::bench
