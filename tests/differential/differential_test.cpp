// Random sequences of operations, the same into an engine on the embedded store and one on Valkey: they
// must answer the same and have the same, word for word. How long: FF_DIFFERENTIAL_STEPS.
#include <numeric>

#include "tests/differential/driver.hpp"
#include "tests/property/check.hpp"

namespace ff::differential {
namespace {

constexpr std::size_t compare_all_every = 20;  // steps
constexpr int steps_usual = 3'000;
constexpr int steps_per_sequence = 75;  // on average

int sequences() {
  const char* wanted = std::getenv("FF_DIFFERENTIAL_STEPS");
  const int steps = wanted ? std::max(1, std::atoi(wanted)) : steps_usual;
  return std::max(1, steps / steps_per_sequence);
}

test::ValkeyServer& server() {
  static test::ValkeyServer only;
  return only;
}

std::size_t steps_done = 0;

void try_sequence(const std::vector<Step>& steps) {
  Sides sides(server());
  Driver driver(sides);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    driver.carry_out(steps[i]);
    if ((i + 1) % compare_all_every == 0) driver.compare_all();
  }
  steps_done += steps.size();
  driver.compare_all();
  sides.check_indexes();
  driver.drain();
  driver.compare_all();
  sides.check_indexes();
}

TEST(Differential, BothStoresDoTheSame) {
  property::check(sequences(), steps(), try_sequence);
  RecordProperty("steps", static_cast<int>(steps_done));
}

}  // namespace
}  // namespace ff::differential
