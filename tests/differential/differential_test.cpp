// Random sequences of operations, the same into an engine on the embedded store and one on Valkey: they
// must answer the same and have the same, word for word.
#include <gtest/gtest.h>

#include "tests/differential/driver.hpp"
#include "tests/support/seeds.hpp"

namespace ff::differential {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Steps = std::vector<Step>;

constexpr const char* seeds_file = "tests/differential/seeds.txt";  // a seed is a sequence
constexpr const char* wait_seeds_file = "tests/differential/wait_seeds.txt";
constexpr std::size_t compare_all_every = 20;  // steps
constexpr std::chrono::seconds shrinking_max{40};

test::ValkeyServer& server() {
  static test::ValkeyServer only;
  return only;
}

struct Failure {
  std::size_t steps_done;  // before the one that failed
  std::string what;
};

std::optional<Failure> try_sequence(const Steps& steps) {
  std::size_t done = 0;
  try {
    Sides sides(server());
    Driver driver(sides);
    for (; done < steps.size(); ++done) {
      driver.carry_out(steps[done]);
      if ((done + 1) % compare_all_every == 0) driver.compare_all();
    }
    driver.compare_all();
    sides.check_indexes();
    driver.drain();
    driver.compare_all();
    sides.check_indexes();
    return std::nullopt;
  } catch (const std::exception& exception) {
    return Failure{done, exception.what()};
  }
}

// Leaves out as much as can be left out while it still fails; in bounded time.
void shrink(Steps& steps, Failure& failure) {
  const auto end = SteadyClock::now() + shrinking_max;
  const auto shorten = [&] {
    if (failure.steps_done < steps.size()) steps.resize(failure.steps_done + 1);
  };
  shorten();
  for (auto chunk = std::max<std::size_t>(steps.size() / 2, 1); chunk > 0; chunk /= 2)
    for (std::size_t at = 0; at < steps.size();) {
      if (SteadyClock::now() > end) return;
      auto fewer = steps;
      const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(first, first + static_cast<std::ptrdiff_t>(std::min(chunk, steps.size() - at)));
      if (auto fails = try_sequence(fewer)) {
        steps = std::move(fewer);
        failure = std::move(*fails);
        shorten();
      } else {
        at += chunk;
      }
    }
}

void compare_stores(const char* file, Steps (*steps_of)(std::uint64_t)) {
  for (const auto seed : test::seeds(file)) {
    auto sequence = steps_of(seed);
    auto failure = try_sequence(sequence);
    if (!failure) continue;
    shrink(sequence, *failure);
    std::string text;
    for (const auto& step : sequence) text += "  " + show(step) + "\n";
    FAIL() << text << failure->what << '\n' << test::how_to_repeat(seed, file);
  }
}

TEST(Differential, BothStoresDoTheSame) { compare_stores(seeds_file, steps); }

TEST(Differential, BothStoresSuspendAndResumeTheSame) {
  compare_stores(wait_seeds_file, steps_with_waits);
}

}  // namespace
}  // namespace ff::differential
