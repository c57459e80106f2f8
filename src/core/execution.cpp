#include "core/execution.hpp"

#include "base/overloaded.hpp"

namespace ff::core {

ExecutionState public_state(const Execution& execution) {
  return std::visit(Overloaded{
                        [](const Waiting&) { return ExecutionState::waiting; },
                        [](const Active&) { return ExecutionState::active; },
                        // The contract counts it as active until another worker has it.
                        [](const Interrupted&) { return ExecutionState::active; },
                        [](const Completed&) { return ExecutionState::completed; },
                        [](const Failed&) { return ExecutionState::failed; },
                    },
                    execution.state);
}

ExecutionInfo info_of(const Execution& execution) {
  ExecutionInfo info{.id = execution.id,
                     .ns = execution.ns,
                     .lane = execution.lane,
                     .kind = execution.kind,
                     .priority = execution.priority,
                     .state = public_state(execution),
                     .created_at = execution.created_at,
                     .started_at = execution.started_at,
                     .attempts = execution.attempt_count};
  std::visit(Overloaded{
                 [](const Waiting&) {},
                 [&](const Active& active) {
                   info.worker = active.lease.worker;
                   info.lease_expires_at = active.lease.expires_at;
                 },
                 [](const Interrupted&) {},
                 [&](const Completed& completed) { info.completed_at = completed.at; },
                 [&](const Failed& failed) {
                   info.completed_at = failed.at;
                   info.failure_reason = failed.reason;
                   if (!failed.category.empty()) info.failure_category = failed.category;
                 },
             },
             execution.state);
  return info;
}

Placement placement(const Execution& execution) {
  const Ready ready{ready_score(execution.priority, execution.created_at)};
  return std::visit(
      Overloaded{
          [&](const Waiting&) -> Placement { return ready; },
          [](const Active& active) -> Placement { return Leased{active.lease.expires_at}; },
          [&](const Interrupted&) -> Placement { return ready; },
          [](const Completed&) -> Placement { return Ended{}; },
          [](const Failed&) -> Placement { return Ended{}; },
      },
      execution.state);
}

std::int64_t ready_score(std::int32_t priority, TimePoint created_at) {
  constexpr std::int64_t priority_step = 1'000'000'000'000;
  return created_at.time_since_epoch().count() - priority * priority_step;
}

}  // namespace ff::core
