#include "core/transitions/plan.hpp"

#include <algorithm>

namespace ff::core {

bool ends_execution(const std::vector<Change>& changes) {
  return std::ranges::any_of(changes, [](const Change& change) {
    const auto* put = std::get_if<PutExecution>(&change);
    return put && has_ended(put->next);
  });
}

// Nothing can have a minted id yet.
Result<Plan<SubmitReply>> decide(PartitionView& view, Create command, TimePoint now) {
  Result<const Execution*> existing = nullptr;
  if (const auto& key = command.submit.idempotency_key)
    existing = view.find(command.submit.ns, *key);
  else if (!command.minted)
    existing = view.find(command.id);
  FF_TRY(existing);
  auto step = apply(*existing, std::move(command), now);
  FF_TRY(step);
  return plan_of(nullptr, std::move(*step));
}

}  // namespace ff::core
