#include "store/valkey/caches/timer_mirror.hpp"

namespace ff::valkey_store {

void TimerMirror::put(const ExecutionId& id, const std::optional<core::Timer>& timer,
                      std::optional<Version> version) {
  const std::lock_guard lock(mutex_);
  const auto known = by_id_.find(id);
  if (version && known != by_id_.end() && known->second.version > *version) return;
  erase(id);
  if (timer) insert(id, {*timer, version.value_or(0)});
}

void TimerMirror::insert(const ExecutionId& id, Known known) {
  if (known.timer.due > known_until_) return;
  timers_[known.timer.kind].emplace(known.timer.due, id);
  by_id_.emplace(id, known);
}

void TimerMirror::forget(const std::set<PartitionIndex>& partitions) {
  const std::lock_guard lock(mutex_);
  std::erase_if(by_id_, [&](const auto& each) {
    const auto& [id, known] = each;
    if (!partitions.contains(id.partition())) return false;
    timers_[known.timer.kind].erase({known.timer.due, id});
    return true;
  });
}

void TimerMirror::forget_versions() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, known] : by_id_) known.version = 0;
}

// It may be outdated by what was heard meanwhile: then it fires in vain, and the reply says what comes next. The version
// that is known is kept, so that messages older than that still change nothing.
void TimerMirror::put_earliest(const ExecutionId& id, const core::Timer& timer) {
  const std::lock_guard lock(mutex_);
  const auto known = by_id_.find(id);
  if (known == by_id_.end()) return insert(id, {timer, 0});
  if (known->second.timer.due <= timer.due) return;
  const auto version = known->second.version;
  erase(id);
  insert(id, {timer, version});
}

void TimerMirror::erase(const ExecutionId& id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return;
  const auto& timer = found->second.timer;
  timers_[timer.kind].erase({timer.due, id});
  by_id_.erase(found);
}

store::DueReply TimerMirror::due(const store::TimersDue& query, TimePoint now) const {
  const std::lock_guard lock(mutex_);
  store::DueReply reply;
  const auto found = timers_.find(query.kind);
  if (found == timers_.end()) return reply;
  for (const auto& [due, id] : found->second) {
    if (due > now || reply.due.size() == query.max) {
      reply.next = due;
      break;
    }
    reply.due.push_back(id);
  }
  return reply;
}

std::vector<core::Timer> TimerMirror::first_of_each() const {
  const std::lock_guard lock(mutex_);
  std::vector<core::Timer> first;
  for (const auto& [kind, timers] : timers_)
    if (!timers.empty()) first.push_back({.kind = kind, .due = timers.begin()->first});
  return first;
}

TimePoint TimerMirror::known_until() const {
  const std::lock_guard lock(mutex_);
  return known_until_;
}

void TimerMirror::looked_up(TimePoint until) {
  const std::lock_guard lock(mutex_);
  known_until_ = until;
}

}  // namespace ff::valkey_store
