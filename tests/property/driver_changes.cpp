// Operations of workers and operators on executions, and the effects of time.
#include <algorithm>

#include "tests/property/agreement.hpp"
#include "tests/property/driver.hpp"

namespace ff::property {

using namespace std::chrono_literals;

template <class Op>
void Driver::change(std::string_view what, const Op& call) {
  touched_.push_back(call.id);
  const auto actual = world_.run(call);
  expect_same(fmt::format("{} {}", what, call.id.str()), actual, model_.apply(call, world_.now()));
}

// ---- By workers ------------------------------------------------------------------------------------

Fence Driver::invent_fence() {
  constexpr std::uint64_t invented_sort = 9;
  const auto uuid = uuid_of(invented_sort, ++invented_);
  return {.lease_id = LeaseId{uuid}, .lease_epoch = LeaseEpoch{1}, .attempt_id = AttemptId{uuid}};
}

Fence Driver::choose_fence(const ExecutionId& id, FenceChoice choice) {
  const auto invented = invent_fence();
  const auto* execution = model_.find(id);
  if (!execution || execution->fences.empty()) return invented;
  auto fence = execution->fences.back();
  const auto count = execution->fences.size();
  switch (choice) {
    case FenceChoice::newest: return fence;
    case FenceChoice::earlier: return count > 1 ? execution->fences[count - 2] : invented;
    case FenceChoice::foreign:
      for (const auto& [other, each] : model_.executions())
        if (other != id && !each.fences.empty()) return each.fences.back();
      return invented;
    case FenceChoice::mixed:
      if (invented_ % 3 == 0) fence.lease_id = invented.lease_id;
      if (invented_ % 3 == 1) fence.lease_epoch = LeaseEpoch{count + 1};
      if (invented_ % 3 == 2) fence.attempt_id = invented.attempt_id;
      return fence;
    case FenceChoice::invented: return invented;
  }
  return invented;
}

void Driver::run(const ByWorker& operation) {
  const auto id = resolve(operation.target);
  const auto fence = choose_fence(id, operation.fence);
  for (int i = 0; i < (operation.repeat ? 2 : 1); ++i) by_worker(operation, id, fence);
}

void Driver::by_worker(const ByWorker& operation, const ExecutionId& id, const Fence& fence) {
  switch (operation.verb) {
    case Verb::renew:
      return change("renew", Renew{.id = id, .fence = fence, .lease_ttl = operation.time});
    case Verb::progress:
      return change("progress", UpdateProgress{.id = id,
                                               .fence = fence,
                                               .percent = operation.category * 25,
                                               .message = operation.repeat ? "" : "on it"});
    case Verb::complete: {
      Complete complete{.id = id, .fence = fence};
      if (operation.category > 1) complete.result = fmt::format("result {}", invented_);
      return change("complete", complete);
    }
    case Verb::fail:
      return change("fail", Fail{.id = id,
                                 .fence = fence,
                                 .reason = "broke",
                                 .category = category_of(operation.category)});
    case Verb::delay:  // may be in the past
      return change("delay",
                    Delay{.id = id, .fence = fence, .until = world_.now() + operation.time - 5s});
    case Verb::wait_for_children:
      return change("wait_for_children", WaitForChildren{.id = id, .fence = fence});
    case Verb::hand_back:
      return change("hand_back", HandBack{.id = id, .fence = fence, .reason = "leaving"});
    case Verb::cancel:
      return change("cancel", Cancel{.id = id, .reason = "by its worker", .fence = fence});
  }
}

void Driver::run(const CompleteBatch& operation) {
  CompleteMany batch;
  for (const auto& target : operation.targets) {
    const auto id = resolve(target);
    batch.executions.push_back({.id = id, .fence = choose_fence(id, operation.fence)});
  }
  const auto reply = must(world_.run(batch));
  expect(reply.results.size() == batch.executions.size(), "complete_many: replies are missing");
  for (std::size_t i = 0; i < batch.executions.size(); ++i) {
    touched_.push_back(batch.executions[i].id);
    expect_same("complete_many", reply.results[i], model_.apply(batch.executions[i], world_.now()));
  }
}

// ---- By operators ----------------------------------------------------------------------------------

void Driver::run(const CancelOne& operation) {
  change("cancel", Cancel{.id = resolve(operation.target), .reason = "by an operator"});
}

void Driver::run(const RevokeOne& operation) {
  RevokeLease call{.id = resolve(operation.target), .reason = "moved"};
  if (operation.lease) call.lease_id = choose_fence(call.id, *operation.lease).lease_id;
  change("revoke", call);
}

void Driver::run(const Prioritise& operation) {
  change("priority",
         ChangePriority{.id = resolve(operation.target), .priority = operation.priority});
}

void Driver::run(const Tag& operation) {
  SetTags call{.id = resolve(operation.target)};
  if (operation.remove)
    call.remove.push_back(tag_key(operation.key));
  else
    call.set[tag_key(operation.key)] = tag_value(operation.value);
  change("tags", call);
}

void Driver::run(const ReplayOne& operation) {
  change("replay",
         Replay{.id = resolve(operation.target), .reason = "again", .requested_by = "ops"});
}

// ---- Time ------------------------------------------------------------------------------------------

void Driver::run(const Scan&) {
  world_.run_scanners();
  model_.scan(world_.now());
}

void Driver::run(const Restart& operation) {
  world_.restart(operation.shards);
  answered_.clear();  // requests are remembered in memory
}

void Driver::drain() {
  // The longest lease or delay is of 24 hours; what a timeout then sends to a retry comes in the next
  // round.
  for (const Millis by : {Millis{0}, Millis{1min}, Millis{25h}, Millis{25h}}) {
    run(Advance{by});
    run(Scan{});
    for (unsigned ns = 0; ns < namespace_count; ++ns)
      claim({.worker = worker_of(0),
             .ns = namespace_of(ns),
             .lanes = lanes_of((1u << lane_count) - 1),
             .capabilities = capabilities_of(capability_sets - 1),
             .max = limits::claim_batch_max});
    for (const auto& [id, execution] : model_.executions())
      if (execution.phase == Phase::active && execution.until > world_.now())
        change("complete", Complete{.id = id, .fence = execution.fences.back()});
  }
  for (const auto& [id, execution] : model_.executions())
    expect(execution.phase == Phase::ended, id.str() + " is stuck");
}

}  // namespace ff::property
