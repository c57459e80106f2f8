#include "sdk/worker/outage.hpp"

#include "base/log.hpp"

namespace ff {

using Steady = std::chrono::steady_clock;

bool is_denied(const Error& error) {
  return error.code == Errc::unauthenticated || error.code == Errc::permission_denied;
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
