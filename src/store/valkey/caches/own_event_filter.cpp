#include "store/valkey/caches/own_event_filter.hpp"

#include "store/valkey/calls/fields.hpp"

namespace ff::valkey_store {

std::uint64_t OwnEventFilter::begin() {
  const std::lock_guard lock(mutex_);
  open_.try_emplace(++last_);
  return last_;
}

std::vector<EventMessage> OwnEventFilter::end(std::uint64_t call, bool told) {
  const std::lock_guard lock(mutex_);
  auto node = open_.extract(call);
  if (told || node.empty()) return {};
  if (node.mapped().empty()) remember_untold(call);
  return std::move(node.mapped());
}

std::vector<EventMessage> OwnEventFilter::hear(std::vector<EventMessage> changes) {
  if (changes.empty()) return changes;
  const auto& origin = changes.front().origin;
  if (!origin.starts_with(prefix_)) {
    // The process that made the change carries them out; programs of the contract, which have no name, do not.
    if (!origin.empty())
      for (auto& each : changes) each.change.effects.clear();
    return changes;
  }
  const auto call = parse_number<std::uint64_t>(origin.substr(prefix_.size()));
  if (!call) return changes;
  const std::lock_guard lock(mutex_);
  if (const auto open = open_.find(*call); open != open_.end()) {
    open->second = std::move(changes);
    return {};
  }
  if (untold_.erase(*call) == 0) return {};
  return changes;
}

void OwnEventFilter::remember_untold(std::uint64_t call) {
  untold_.insert(call);
  untold_order_.push_back(call);
  if (untold_order_.size() <= untold_max) return;
  untold_.erase(untold_order_.front());
  untold_order_.pop_front();
}

}  // namespace ff::valkey_store
