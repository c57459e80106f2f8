#include "core/execution/fence.hpp"
#include "core/transitions/plan.hpp"

namespace ff::core {

Result<Plan<PutStepReply>> decide(PartitionView& view, PutStep command, TimePoint now) {
  const auto found = view.find(command.id);
  FF_TRY(found);
  if (!*found) return refusals::not_found(command.id);
  const Execution before = **found;
  FF_TRY(check_fence(before, command.fence, now));
  const auto kept = before.step_count > 0 ? view.has_step(before, command.name) : false;
  FF_TRY(kept);
  if (*kept) return Plan<PutStepReply>{.reply = {.duplicate = true}};
  const auto bytes = before.step_bytes + command.result.size();
  if (before.step_count >= limits::steps_max || bytes > limits::steps_bytes_max)
    return refusals::too_many_steps(before.id);

  Execution next = before;
  next.step_count += 1;
  next.step_bytes = bytes;
  Plan<PutStepReply> plan;
  plan.changes.emplace_back(PutBelonging{before.id, Belonging::step,
                                         StoredStep{.name = std::move(command.name),
                                                    .at = now,
                                                    .content_type = std::move(command.content_type),
                                                    .result = std::move(command.result)}});
  plan.changes.emplace_back(std::in_place_type<PutExecution>, std::move(next), std::nullopt);
  return plan;
}

}  // namespace ff::core
