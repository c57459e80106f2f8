#include "sdk/worker/reporting/outage.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace ff {

using Steady = std::chrono::steady_clock;

bool is_denied(const Error& error) {
  return error.code == Errc::unauthenticated || error.code == Errc::permission_denied;
}

bool knows_no_field(const Error& error, std::string_view field) {
  return error.code == Errc::unknown_field &&
         std::ranges::find(error.details, Error::Detail{"field", std::string(field)}) !=
             error.details.end();
}

void Outage::failed(const Error& error) {
  if (since_) return;
  since_ = Steady::now();
  log::warn("{}, and tries again until it can: {}", what_, error.message);
}

void Outage::over() {
  if (!since_) return;
  const auto lasted =
      std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - *since_);
  since_.reset();
  log::info("{}: that is over after {} ms", what_, lasted.count());
}

}  // namespace ff
