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

using Steady = std::chrono::steady_clock;

inline constexpr std::chrono::seconds shrinking_max{40};

inline const std::string seeds_file = "tests/property/seeds.txt";

// When a property failed for the first time, and how.
class FirstFailure {
 public:
  void note(std::string message) {
    if (!at_) message_ = std::move(message);
    if (!at_) at_ = Steady::now();
  }
  bool is_older_than(Steady::duration age) const { return at_ && Steady::now() - *at_ > age; }
  const std::string& message() const { return message_; }

 private:
  std::optional<Steady::time_point> at_;
  std::string message_;
};

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

  // Shrinking ends in time: from then on, nothing that is tried counts as a failure. RapidCheck tries the
  // shortest counterexample once more for its message, and then finds none: the first one is kept here.
  FirstFailure first;
  const auto bounded = [&] {
    const T value = *generator;
    if (first.is_older_than(shrinking_max)) return;
    try {
      property(value);
    } catch (const rc::detail::CaseResult& result) {
      if (result.type == rc::detail::CaseResult::Type::Failure) first.note(result.description);
      throw;
    } catch (const std::exception& error) {
      first.note(error.what());
      throw;
    }
  };
  const auto result = rc::detail::checkTestable(
      bounded, rc::detail::TestMetadata{.id = name, .description = name}, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  FAIL() << text.str() << "\nBefore shrinking: " << first.message() << '\n'
         << test::how_to_repeat(seed, seeds_file);
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
