#include "core/fence.hpp"

#include <fmt/format.h>

namespace ff::core {
namespace {

std::unexpected<Error> not_active(const Execution& execution) {
  const auto state = to_string(public_state(execution));
  return fail(
      Errc::execution_not_active,
      fmt::format("execution {} is {}, so no worker can change it", execution.id.str(), state),
      {{"state", std::string(state)},
       {"lease_epoch", std::to_string(std::to_underlying(execution.last_epoch))}});
}

std::unexpected<Error> expired(const Execution& execution) {
  return fail(
      Errc::lease_expired,
      fmt::format("the lease on execution {} has run out; stop working on it, another worker "
                  "may have it",
                  execution.id.str()));
}

}  // namespace

Result<Lease> check_fence(const Execution& execution, const Fence& fence, TimePoint now) {
  if (std::holds_alternative<Interrupted>(execution.state)) return expired(execution);
  const auto* active = std::get_if<Active>(&execution.state);
  if (!active) return not_active(execution);
  if (active->lease.expires_at <= now) return expired(execution);
  if (active->lease.fence != fence)
    return fail(Errc::stale_lease,
                fmt::format("another lease on execution {} has taken over; stop working on it",
                            execution.id.str()));
  return active->lease;
}

}  // namespace ff::core
