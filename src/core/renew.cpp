#include "core/fence.hpp"
#include "core/transitions.hpp"

namespace ff::core {

Decision<Renew> apply(const Execution& execution, const Renew& command, TimePoint now) {
  auto lease = check_fence(execution, command.fence, now);
  if (!lease) return std::unexpected(lease.error());

  lease->expires_at = now + command.lease_ttl;
  Execution next = execution;
  next.state = Active{*lease};
  return Step<RenewReply>{.reply = {lease->expires_at}, .next = std::move(next)};
}

}  // namespace ff::core
