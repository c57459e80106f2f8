// The seeds of a random test. What one seed stands for is the test's own matter: a sequence of operations,
// or some tries of a property.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ff::test {

// Those listed in `file` (relative to the source tree), so that every run tries the same. The environment
// can ask for others: FF_SEED=S for one, FF_SEEDS=N for N fresh ones, which are printed.
std::vector<std::uint64_t> seeds(const std::string& file);

// Instructions for repeating a failure.
std::string how_to_repeat(std::uint64_t seed, const std::string& file);

}  // namespace ff::test
