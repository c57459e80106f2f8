// Trying a property.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>

namespace ff::property {

inline constexpr std::chrono::seconds shrinking_max{40};

// How often a property is tried: `usual` times what the environment says in FF_PROPERTY_RUNS.
inline int runs(int usual) {
  const char* factor = std::getenv("FF_PROPERTY_RUNS");
  return usual * std::max(1, factor ? std::atoi(factor) : 1);
}

// Fails the running test with a short counterexample, and how to see it again. `property` takes what
// `generator` makes.
template <class T, class Property>
void check(int usual_runs, const rc::Gen<T>& generator, const Property& property) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const auto name = std::string(test->test_suite_name()) + "." + test->name();
  auto params = rc::detail::configuration().testParams;
  params.maxSuccess = runs(usual_runs);

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
  FAIL() << text.str() << "\nseed: RC_PARAMS=\"seed=" << params.seed << "\"";
}

}  // namespace ff::property
