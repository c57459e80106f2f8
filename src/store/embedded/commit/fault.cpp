#include "store/embedded/commit/fault.hpp"

#include <fmt/format.h>

#include "base/log.hpp"

namespace ff::embedded {

void Fault::set(const Error& cause) {
  const std::lock_guard lock(mutex_);
  if (present_) return;
  error_ = {Errc::store_unavailable,
            fmt::format("the store stopped: {}; mend the cause and restart, nothing that was "
                        "acknowledged is lost",
                        cause.message)};
  present_.store(true, std::memory_order_release);
  log::critical("{}", error_.message);
}

}  // namespace ff::embedded
