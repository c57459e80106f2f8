#include <fmt/format.h>

#include "core/transitions.hpp"

namespace ff::core {
namespace {

bool same(const Existing& existing, const Submit& submit) {
  const auto& execution = existing.execution;
  return execution.ns == submit.ns && execution.lane == submit.lane &&
         execution.kind == submit.kind && execution.priority == submit.priority &&
         existing.payload == submit.payload;
}

Decision<Create> repeat(const Existing& existing, const Create& command) {
  if (!same(existing, command.submit))
    return fail(
        Errc::duplicate_mismatch,
        fmt::format("execution {} exists already, with another namespace, lane, kind, priority "
                    "or payload; use a new id",
                    command.id.str()));
  return Step<SubmitReply>{
      .reply = {.id = command.id, .duplicate = true, .state = public_state(existing.execution)}};
}

}  // namespace

Decision<Create> apply(const std::optional<Existing>& existing, Create command, TimePoint now) {
  if (existing) return repeat(*existing, command);

  auto& submit = command.submit;
  Execution created{.id = command.id,
                    .ns = std::move(submit.ns),
                    .lane = std::move(submit.lane),
                    .kind = std::move(submit.kind),
                    .priority = submit.priority,
                    .created_at = now};
  return Step<SubmitReply>{
      .reply = {.id = command.id, .duplicate = false, .state = public_state(created)},
      .next = std::move(created),
      .event = EventType::submitted,
      .payload = std::move(submit.payload)};
}

}  // namespace ff::core
