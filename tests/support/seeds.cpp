#include "tests/support/seeds.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <random>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/support/paths.hpp"

namespace ff::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t listed_max = 8;  // tests run several times slower
#else
constexpr std::size_t listed_max = std::numeric_limits<std::size_t>::max();
#endif

std::vector<std::uint64_t> fresh(std::size_t count) {
  std::random_device device;
  std::vector<std::uint64_t> seeds(count);
  for (auto& seed : seeds) seed = device();
  std::cout << fmt::format("seeds: {}\n", fmt::join(seeds, " ")) << std::flush;
  return seeds;
}

// One a line; '#' starts a comment.
std::vector<std::uint64_t> listed(const std::string& file) {
  std::ifstream in(source_dir() / file);
  std::vector<std::uint64_t> seeds;
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line.front() != '#') seeds.push_back(std::stoull(line));
  if (seeds.size() > listed_max) seeds.resize(listed_max);
  if (seeds.empty()) throw std::runtime_error("no seeds in " + file);
  return seeds;
}

}  // namespace

std::vector<std::uint64_t> seeds(const std::string& file) {
  if (const char* one = std::getenv("FF_SEED")) return {std::stoull(one)};
  if (const char* count = std::getenv("FF_SEEDS")) return fresh(std::stoull(count));
  return listed(file);
}

std::string how_to_repeat(std::uint64_t seed, const std::string& file) {
  return fmt::format("FF_SEED={} repeats it; add the seed to {} once it is fixed", seed, file);
}

}  // namespace ff::test
