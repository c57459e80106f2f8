#include <flowfabric/client.hpp>

#include <flowfabric/limits.hpp>

#include <algorithm>

#include "sdk/blocking.hpp"

namespace ff {
namespace {

Result<Submit> to_operation(NewExecution execution) {
  auto ns = Namespace::parse(std::move(execution.ns));
  if (!ns) return std::unexpected(ns.error());
  auto lane = LaneId::parse(std::move(execution.lane));
  if (!lane) return std::unexpected(lane.error());
  auto kind = Kind::parse(std::move(execution.kind));
  if (!kind) return std::unexpected(kind.error());
  Submit submit{.ns = std::move(*ns),
                .lane = std::move(*lane),
                .kind = std::move(*kind),
                .priority = execution.priority,
                .payload = std::move(execution.payload)};
  if (!execution.id.empty()) {
    const auto id = ExecutionId::parse(execution.id);
    if (!id) return std::unexpected(id.error());
    submit.id = *id;
  }
  return submit;
}

}  // namespace

Result<SubmitReply> Client::submit(NewExecution execution) {
  auto operation = to_operation(std::move(execution));
  if (!operation) return std::unexpected(operation.error());
  return run_blocking(engine_, std::move(*operation));
}

Result<ExecutionInfo> Client::get(const ExecutionId& id) {
  return run_blocking(engine_, GetExecution{id});
}

Result<std::string> Client::result(const ExecutionId& id, Millis timeout) {
  using Steady = std::chrono::steady_clock;
  constexpr Millis timeout_max = std::chrono::years{1};
  const auto deadline = Steady::now() + std::min(timeout, timeout_max);
  while (true) {
    const auto left = std::chrono::ceil<Millis>(deadline - Steady::now());
    auto result = run_blocking(
        engine_, GetResult{.id = id, .wait = std::clamp(left, Millis{0}, limits::wait_max)});
    if (result) return std::move(result->bytes);
    const bool not_ended = result.error().code == Errc::execution_not_terminal;
    if (!not_ended || Steady::now() >= deadline) return std::unexpected(std::move(result.error()));
  }
}

}  // namespace ff
