#include "core/admission.hpp"

#include <fmt/format.h>

namespace ff::core {

std::string rate_detail(const QuotaId& quota, const QuotaSpec& spec) {
  const auto limit = spec.max_per_window.value_or(0);
  const std::chrono::duration<double> window = spec.window;
  return fmt::format("quota {}: rate limit {}/{} per {:g}s window", quota.str(), limit, limit,
                     window.count());
}

std::string concurrency_detail(const QuotaId& quota, const QuotaSpec& spec) {
  return fmt::format("quota {}: concurrency cap {}", quota.str(), spec.max_concurrent.value_or(0));
}

}  // namespace ff::core
