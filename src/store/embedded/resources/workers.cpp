#include "store/embedded/resources/workers.hpp"

#include <flowfabric/limits.hpp>

#include "core/refusals.hpp"

namespace ff::embedded {

WorkerInfo* Workers::find(const Namespace& ns, const WorkerId& worker, TimePoint now) {
  const auto there = workers_.find(ns);
  if (there == workers_.end()) return nullptr;
  const auto found = there->second.find(worker);
  const bool lives = found != there->second.end() && found->second.expires_at > now;
  return lives ? &found->second : nullptr;
}

Workers::ByName& Workers::alive(const Namespace& ns, TimePoint now) {
  auto& there = workers_[ns];
  std::erase_if(there, [&](const auto& each) { return each.second.expires_at <= now; });
  return there;
}

Result<RegisterReply> Workers::execute(const RegisterWorker& command, Turn& turn) {
  const auto now = turn.now();
  WorkerInfo info{.worker = command.worker,
                  .ns = command.ns,
                  .lanes = command.lanes,
                  .capabilities = command.capabilities,
                  .registered_at = now,
                  .last_seen_at = now,
                  .expires_at = now + command.ttl};
  if (auto* known = find(command.ns, command.worker, now)) {
    info.registered_at = known->registered_at;
    info.draining = known->draining;
    *known = std::move(info);
    return RegisterReply{
        .known = true, .draining = known->draining, .expires_at = known->expires_at};
  }
  auto& others = workers_[command.ns];
  if (others.size() >= limits::workers_max && alive(command.ns, now).size() >= limits::workers_max)
    return core::refusals::too_many_workers(command.ns);
  const RegisterReply reply{.expires_at = info.expires_at};
  others.insert_or_assign(command.worker, std::move(info));
  return reply;
}

Result<RegisterReply> Workers::execute(const HeartbeatWorker& command, Turn& turn) {
  auto* known = find(command.ns, command.worker, turn.now());
  if (!known) return core::refusals::not_found(command.worker, command.ns);
  const auto ttl = known->expires_at - known->last_seen_at;
  known->last_seen_at = turn.now();
  known->expires_at = turn.now() + ttl;
  return RegisterReply{.known = true, .draining = known->draining, .expires_at = known->expires_at};
}

Result<Done> Workers::execute(const DeregisterWorker& command, Turn&) {
  const auto there = workers_.find(command.ns);
  if (there == workers_.end()) return Done{};
  there->second.erase(command.worker);
  if (there->second.empty()) workers_.erase(there);
  return Done{};
}

Result<WorkerInfo> Workers::execute(const DrainWorker& command, Turn& turn) {
  auto* known = find(command.ns, command.worker, turn.now());
  if (!known) return core::refusals::not_found(command.worker, command.ns);
  known->draining = command.draining;
  return *known;
}

Result<std::vector<WorkerInfo>> Workers::execute(const core::LiveWorkers& query, Turn& turn) {
  std::vector<WorkerInfo> found;
  const auto& there = alive(query.ns, turn.now());
  for (const auto& [name, info] : there) found.push_back(info);
  if (there.empty()) workers_.erase(query.ns);
  return found;
}

}  // namespace ff::embedded
