#include "store/embedded/resources/workers.hpp"

#include <flowfabric/limits.hpp>

namespace ff::embedded {

Workers::Worker* Workers::find(const Namespace& ns, const WorkerId& worker, TimePoint now) {
  const auto there = workers_.find(ns);
  if (there == workers_.end()) return nullptr;
  const auto found = there->second.find(worker);
  const bool lives = found != there->second.end() && found->second.info.expires_at > now;
  return lives ? &found->second : nullptr;
}

bool Workers::is_taken(const Worker& worker, const std::optional<IncarnationId>& incarnation,
                       TimePoint now) {
  const auto& hold = worker.hold;
  return incarnation && hold && hold->by != *incarnation && hold->until > now;
}

core::refusals::Refusal Workers::id_in_use(const Worker& worker, TimePoint now) {
  const auto until = worker.hold->until;
  return core::refusals::worker_id_in_use(worker.info.worker, worker.info.ns, until, until - now);
}

Workers::ByName& Workers::alive(const Namespace& ns, TimePoint now) {
  auto& there = workers_[ns];
  std::erase_if(there, [&](const auto& each) { return each.second.info.expires_at <= now; });
  return there;
}

Result<RegisterReply> Workers::execute(const RegisterWorker& command, Turn& turn) {
  const auto now = turn.now();
  auto* known = find(command.ns, command.worker, now);
  if (known && is_taken(*known, command.incarnation, now)) return id_in_use(*known, now);
  Worker worker{.info = {.worker = command.worker,
                         .ns = command.ns,
                         .lanes = command.lanes,
                         .capabilities = command.capabilities,
                         .registered_at = now,
                         .last_seen_at = now,
                         .expires_at = now + command.ttl},
                .ttl = command.ttl};
  auto& info = worker.info;
  if (command.incarnation) worker.hold = Hold{.by = *command.incarnation, .until = info.expires_at};
  if (known) {
    info.registered_at = known->info.registered_at;
    info.draining = known->info.draining;
    // A claim tells of lanes and capabilities; how long the worker lives its own registration says.
    if (!command.incarnation && known->hold) {
      worker.hold = known->hold;
      worker.ttl = known->ttl;
      info.expires_at = std::max(info.expires_at, known->info.expires_at);
    }
    *known = std::move(worker);
    return RegisterReply{
        .known = true, .draining = known->info.draining, .expires_at = known->info.expires_at};
  }
  auto& others = workers_[command.ns];
  if (others.size() >= limits::workers_max && alive(command.ns, now).size() >= limits::workers_max)
    return core::refusals::too_many_workers(command.ns);
  const RegisterReply reply{.expires_at = info.expires_at};
  others.insert_or_assign(command.worker, std::move(worker));
  return reply;
}

Result<RegisterReply> Workers::execute(const HeartbeatWorker& command, Turn& turn) {
  const auto now = turn.now();
  auto* known = find(command.ns, command.worker, now);
  if (!known) return core::refusals::not_found(command.worker, command.ns);
  if (is_taken(*known, command.incarnation, now)) return id_in_use(*known, now);
  auto& info = known->info;
  info.last_seen_at = now;
  info.expires_at = now + known->ttl;
  if (command.incarnation) known->hold = Hold{.by = *command.incarnation, .until = info.expires_at};
  return RegisterReply{.known = true, .draining = info.draining, .expires_at = info.expires_at};
}

Result<Done> Workers::execute(const DeregisterWorker& command, Turn& turn) {
  const auto now = turn.now();
  const auto* known = find(command.ns, command.worker, now);
  if (known && is_taken(*known, command.incarnation, now)) return id_in_use(*known, now);
  const auto there = workers_.find(command.ns);
  if (there == workers_.end()) return Done{};
  there->second.erase(command.worker);
  if (there->second.empty()) workers_.erase(there);
  return Done{};
}

Result<WorkerInfo> Workers::execute(const DrainWorker& command, Turn& turn) {
  auto* known = find(command.ns, command.worker, turn.now());
  if (!known) return core::refusals::not_found(command.worker, command.ns);
  known->info.draining = command.draining;
  return known->info;
}

Result<std::vector<WorkerInfo>> Workers::execute(const core::LiveWorkers& query, Turn& turn) {
  std::vector<WorkerInfo> found;
  const auto& there = alive(query.ns, turn.now());
  for (const auto& [name, worker] : there) found.push_back(worker.info);
  if (there.empty()) workers_.erase(query.ns);
  return found;
}

}  // namespace ff::embedded
