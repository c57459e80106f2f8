#include "store/valkey/caches/own_event_filter.hpp"

#include "store/valkey/calls/fields.hpp"

namespace ff::valkey {

std::uint64_t OwnEventFilter::begin() {
  const std::lock_guard lock(mutex_);
  open_.emplace(++last_, std::nullopt);
  return last_;
}

std::optional<EventMessage> OwnEventFilter::end(std::uint64_t call, bool told) {
  const std::lock_guard lock(mutex_);
  auto node = open_.extract(call);
  if (told || node.empty()) return std::nullopt;
  if (!node.mapped()) remember_untold(call);
  return std::move(node.mapped());
}

std::optional<EventMessage> OwnEventFilter::hear(EventMessage message) {
  if (!message.origin.starts_with(prefix_)) {
    // The process that made the change carries them out; programs of the contract, which have no name, do not.
    if (!message.origin.empty()) message.change.effects.clear();
    return message;
  }
  const auto call = parse_number<std::uint64_t>(message.origin.substr(prefix_.size()));
  if (!call) return message;
  const std::lock_guard lock(mutex_);
  if (const auto open = open_.find(*call); open != open_.end()) {
    open->second = std::move(message);
    return std::nullopt;
  }
  if (untold_.erase(*call) == 0) return std::nullopt;
  return message;
}

void OwnEventFilter::remember_untold(std::uint64_t call) {
  untold_.insert(call);
  untold_order_.push_back(call);
  if (untold_order_.size() <= untold_max) return;
  untold_.erase(untold_order_.front());
  untold_order_.pop_front();
}

}  // namespace ff::valkey
