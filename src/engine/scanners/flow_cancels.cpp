#include "engine/scanners/flow_cancels.hpp"

#include <set>

#include "base/log.hpp"
#include "base/try.hpp"

namespace ff {
namespace {

// Each command is repeated until it has no more to do, at most `slices_max` calls in all.
template <class Command>
Async<Scan> cancel_all(store::Store& store, const std::vector<Command>& commands,
                       std::size_t slices_max) {
  Scan scan{.seen = commands.size()};
  std::optional<Error> failure;
  std::size_t slices = 0;
  for (const auto& command : commands) {
    bool more = true;
    while (more && ++slices <= slices_max) {
      const auto reply = co_await store.run(command);
      if (!reply) failure = reply.error();
      more = reply && reply->more;
      if (reply && reply->cancelled > 0)
        log::info("{} cancelled={} for its flow", command.id.str(), reply->cancelled);
      scan.changed += reply ? reply->cancelled : 0;
    }
  }
  if (failure && scan.changed == 0) co_return std::unexpected(std::move(*failure));
  scan.more = slices > slices_max;
  co_return scan;
}

}  // namespace

Async<Scan> CancelReconciler::run_once() {
  const store::FindOwedCancels query{.to = store::OwedTo::members, .max = flows_max};
  const auto owed = co_await store_.run(query);
  FF_CO_TRY(owed);
  backlog_ = owed->backlog;
  const auto own = co_await own_flows(store_, filter_, owed->flows);
  std::vector<core::CancelOwedMembers> commands;
  for (const auto& id : own) commands.push_back({.id = id});
  co_return co_await cancel_all(store_, commands, slices_max);
}

Async<Scan> EdgeCancelDispatcher::run_once() {
  if (!look_.exchange(false) && store_.now() < look_again_at_) co_return Scan{};
  const store::FindOwedCancels query{.to = store::OwedTo::siblings, .max = groups_max};
  const auto owed = co_await store_.run(query);
  if (!owed) look_ = true;
  FF_CO_TRY(owed);
  std::vector<FlowId> flows;
  for (const auto& each : owed->siblings) flows.push_back(each.flow);
  const auto own = co_await own_flows(store_, filter_, std::move(flows));
  const std::set<FlowId> ours(own.begin(), own.end());
  auto commands = owed->siblings;
  std::erase_if(commands, [&](const auto& each) { return !ours.contains(each.flow); });
  if (!commands.empty()) look_ = true;  // there may be more than one look finds
  look_again_at_ = store_.now() + look_every_;
  co_return co_await cancel_all(store_, commands, slices_max);
}

}  // namespace ff
