// Trying a property.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <chrono>
#include <optional>
#include <sstream>
#include <string>

#include "tests/support/seeds.hpp"

namespace ff::property {

inline constexpr std::chrono::seconds shrinking_max{40};

inline const std::string seeds_file = "tests/property/seeds.txt";

// Tries `property` with `tries` values of `generator` for one seed. Fails the running test with a short
// counterexample.
template <class T, class Property>
void check_seed(std::uint64_t seed, int tries, const rc::Gen<T>& generator,
                const Property& property) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto name = std::string(test->test_suite_name()) + "." + test->name();
  auto params = rc::detail::configuration().testParams;
  params.seed = seed;
  params.maxSuccess = tries;

  // Shrinking ends in time: from then on, nothing that is tried counts as a failure.
  using Steady = std::chrono::steady_clock;
  std::optional<Steady::time_point> first_failure;
  const auto bounded = [&] {
    const T value = *generator;
    if (first_failure && Steady::now() - *first_failure > shrinking_max) return;
    try {
      property(value);
    } catch (...) {
      if (!first_failure) first_failure = Steady::now();
      throw;
    }
  };
  const auto result = rc::detail::checkTestable(
      bounded, rc::detail::TestMetadata{.id = name, .description = name}, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  FAIL() << text.str() << '\n' << test::how_to_repeat(seed, seeds_file);
}

// The same for every seed, until one fails.
template <class T, class Property>
void check(int tries_per_seed, const rc::Gen<T>& generator, const Property& property) {
  for (const auto seed : test::seeds(seeds_file)) {
    check_seed(seed, tries_per_seed, generator, property);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace ff::property
