#include "engine/scanners/flow_reconcilers.hpp"

#include <mutex>
#include <utility>

#include "base/log.hpp"
#include "base/try.hpp"

namespace ff {
namespace {

void go_on(core::CheckNode& check, const core::CheckReply& reply) { check.from = *reply.next; }

void go_on(core::CheckFlow& check, core::CheckFlowReply& reply) {
  check.from = *reply.next;
  check.version = reply.version;
  check.tally = std::move(reply.tally);
}

// A scanner that takes too long gets a second loop beside the first (Supervisor). Each works on what it has taken.
std::mutex taking;
template <class T>
T take(T& from) {
  const std::lock_guard lock(taking);
  return std::exchange(from, T{});
}
template <class T>
void put_back(T& to, T value) {
  const std::lock_guard lock(taking);
  to = std::move(value);
}

// Runs checks, slice by slice, at most so many slices; those that have not ended stay in `left`.
template <class Check>
Async<Scan> run_checks(store::Store& store, std::deque<Check>& left, std::size_t slices_max) {
  Scan scan;
  std::optional<Error> failure;
  std::string first;  // that was repaired
  for (std::size_t i = 0; i < slices_max && !left.empty(); ++i) {
    auto reply = co_await store.run(left.front());
    if (!reply) failure = reply.error();
    if (reply && reply->repaired > 0 && first.empty()) first = left.front().id.str();
    scan.changed += reply ? reply->repaired : 0;
    if (reply && reply->next) {
      go_on(left.front(), *reply);
      continue;
    }
    ++scan.seen;
    left.pop_front();
  }
  if (scan.changed > 0)
    log::error("flows: repaired={} first={}: they did not agree with their edges or nodes",
               scan.changed, first);
  // One damaged record does not keep the others from being checked.
  if (failure && scan.changed == 0) co_return std::unexpected(std::move(*failure));
  co_return scan;
}

}  // namespace

Async<Scan> DependencyReconciler::run_once() {
  auto left = take(left_);
  auto next = take(next_);
  if (left.empty()) {
    const store::FindBlocked query{.reason = BlockingReason::waiting_for_children,
                                   .after = next,
                                   .max = executions_max};
    const auto page = co_await store_.run(query);
    FF_CO_TRY(page);
    next = page->next;
    std::vector<ExecutionId> ids;
    for (const auto& each : page->executions) ids.push_back(each.id);
    const auto own = co_await candidates_.own(std::move(ids));
    for (const auto& id : own) left.push_back({.id = id});
  }
  auto scan = co_await run_checks(store_, left, slices_max);
  const bool more = !left.empty() || next.has_value();
  put_back(left_, std::move(left));
  put_back(next_, std::move(next));
  FF_CO_TRY(scan);
  scan->more = more;
  co_return scan;
}

Async<Scan> FlowProjector::run_once() {
  auto left = take(left_);
  auto next = take(next_);
  if (left.empty()) {
    const store::FindOpenFlows query{.after = next, .max = flows_max};
    const auto page = co_await store_.run(query);
    FF_CO_TRY(page);
    next = page->next;
    const auto own = co_await own_flows(store_, filter_, page->flows);
    for (const auto& id : own) left.push_back({.id = id});
  }
  auto scan = co_await run_checks(store_, left, slices_max);
  const bool more = !left.empty() || next.has_value();
  put_back(left_, std::move(left));
  put_back(next_, std::move(next));
  FF_CO_TRY(scan);
  scan->more = more;
  co_return scan;
}

}  // namespace ff
