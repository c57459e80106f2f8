// An engine's operations on schedules.
#include "base/try.hpp"
#include "engine/local_engine.hpp"
#include "engine/subflows.hpp"

namespace ff {

Async<PutScheduleReply> LocalEngine::handle(PutSchedule operation) {
  auto& spec = operation.spec;
  if (spec.execution) {
    FF_CO_TRY(co_await gate_.attachable(operation.ns, spec.execution->policy));
  }
  if (spec.flow) {
    pass_on_fairness(*spec.flow);
    spec.flow->fairness_key.reset();
    spec.flow->fairness_weight.reset();
    auto nodes = spec.flow->nodes;  // a copy: they get the quotas of their limits when they are submitted
    FF_CO_TRY(co_await check_attachments(operation.ns, spec.flow->budgets, nodes));
  }
  co_return co_await schedules_.put(std::move(operation));
}
Async<ScheduleInfo> LocalEngine::handle(GetSchedule operation) {
  return schedules_.get(std::move(operation));
}
Async<ScheduleList> LocalEngine::handle(ListSchedules operation) {
  return schedules_.list(std::move(operation));
}
Async<Done> LocalEngine::handle(DeleteSchedule operation) {
  return schedules_.remove(std::move(operation));
}
Async<ScheduleInfo> LocalEngine::handle(PauseSchedule operation) {
  return schedules_.pause(std::move(operation));
}
Async<ScheduleInfo> LocalEngine::handle(ResumeSchedule operation) {
  return schedules_.resume(std::move(operation));
}
Async<RunScheduleReply> LocalEngine::handle(RunSchedule operation) {
  return schedules_.run(std::move(operation));
}
Async<ScheduleTimes> LocalEngine::handle(GetScheduleTimes operation) {
  return schedules_.times(std::move(operation));
}
Async<ScheduleTimes> LocalEngine::handle(PreviewSchedule operation) {
  return schedules_.preview(std::move(operation));
}

}  // namespace ff
