// Helpers shared by the tests of validate().
#pragma once

#include <gtest/gtest.h>

#include "core/validation/validate.hpp"

namespace ff::core::validation {

using namespace std::chrono_literals;

inline const ExecutionId id{255, {}};
inline const std::string bad_utf8 = "bad \xff";

// "ok", or "code: field", with 256 partitions.
std::string verdict(const auto& operation) {
  const Result<void> checked = validate(operation, 256);
  if (checked) return "ok";
  std::string field;
  for (const auto& detail : checked.error().details) field = detail.value;
  return std::string(checked.error().name()) + ": " + field;
}

}  // namespace ff::core::validation
