#include "sdk/worker/reporting/lease_loss.hpp"

#include <algorithm>

namespace ff {
namespace {

CancelReason why_not_active(const Error& error) {
  const auto outcome = std::ranges::find(error.details, "terminal_outcome", &Error::Detail::name);
  if (outcome == error.details.end()) return CancelReason::lease_lost;
  if (outcome->value == to_string(TerminalOutcome::cancelled))
    return CancelReason::execution_cancelled;
  if (outcome->value == to_string(TerminalOutcome::expired)) return CancelReason::timed_out;
  return CancelReason::lease_lost;
}

}  // namespace

std::optional<CancelReason> lease_loss(const Error& error) {
  switch (error.code) {
    case Errc::execution_not_active: return why_not_active(error);
    case Errc::stale_lease:
    case Errc::lease_expired:
    case Errc::lease_revoked:
    case Errc::execution_not_found: return CancelReason::lease_lost;
    default: return std::nullopt;
  }
}

}  // namespace ff
