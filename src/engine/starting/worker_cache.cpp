#include "engine/starting/worker_cache.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace ff {
namespace {

constexpr Millis fresh_for{1'000};
constexpr std::size_t remembered_max = 10'000;
// A worker that is not busy claims again within this time.
constexpr Millis claim_tells_for = 2 * limits::wait_max;

}  // namespace

Async<WorkerCache::Standing> WorkerCache::seen(const RegisterWorker& worker) {
  const Worker key{worker.ns, worker.worker, worker.lanes, worker.capabilities};
  const auto now = store_.now();
  std::uint64_t changes = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto before = seen_.find(key);
    if (before != seen_.end() && now - before->second.at < before->second.ttl / 3)
      co_return Standing{.draining = before->second.draining};
    changes = changes_;
  }
  const auto registered = co_await store_.run(worker);
  FF_CO_TRY(registered);
  const std::lock_guard lock(mutex_);
  if (seen_.size() >= remembered_max) seen_.clear();
  if (changes == changes_)
    seen_[key] = {.at = now, .ttl = worker.ttl, .draining = registered->draining};
  ++registrations_;
  known_.erase(worker.ns);
  co_return Standing{.news = !registered->known, .draining = registered->draining};
}

Async<std::vector<WorkerInfo>> WorkerCache::live(const Namespace& ns) {
  const auto now = store_.now();
  std::pair<std::uint64_t, std::uint64_t> before;
  {
    const std::lock_guard lock(mutex_);
    before = {changes_, registrations_};
    const auto known = known_.find(ns);
    if (known != known_.end() && now - known->second.at < fresh_for) {
      auto workers = known->second.workers;
      std::erase_if(workers, [&](const WorkerInfo& each) { return each.expires_at <= now; });
      co_return workers;
    }
  }
  core::LiveWorkers query{ns};
  auto workers = co_await store_.run(std::move(query));
  FF_CO_TRY(workers);
  const std::lock_guard lock(mutex_);
  if (before == std::pair{changes_, registrations_}) known_[ns] = {.at = now, .workers = *workers};
  co_return std::move(*workers);
}

asio::awaitable<bool> WorkerCache::covers(const Namespace& ns, const CapabilitySet& required) {
  if (required.empty()) co_return true;
  const auto workers = co_await live(ns);
  if (!workers) co_return true;
  co_return std::ranges::any_of(
      *workers, [&](const WorkerInfo& worker) { return worker.capabilities.covers(required); });
}

void WorkerCache::claims(const Namespace& ns, const WorkerId& worker,
                         const std::vector<Kind>& kinds) {
  const std::lock_guard lock(mutex_);
  if (claimed_.size() >= remembered_max) claimed_.clear();
  auto& claimed = claimed_[{ns, worker}];
  claimed.at = store_.now();
  if (claimed.kinds != kinds) claimed.kinds = kinds;
}

bool WorkerCache::takes(const Namespace& ns, const WorkerId& worker, const Kind& kind) {
  const std::lock_guard lock(mutex_);
  const auto claimed = claimed_.find({ns, worker});
  return claimed == claimed_.end() || store_.now() - claimed->second.at > claim_tells_for ||
         store::takes_kind(claimed->second.kinds, kind);
}

void WorkerCache::changed(const Namespace& ns) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  known_.erase(ns);
  std::erase_if(seen_, [&](const auto& each) { return std::get<Namespace>(each.first) == ns; });
}

}  // namespace ff
