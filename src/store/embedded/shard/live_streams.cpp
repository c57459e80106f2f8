#include "store/embedded/shard/live_streams.hpp"

#include <flowfabric/limits.hpp>

#include "base/assert.hpp"

namespace ff::embedded {
namespace {

constexpr std::uint64_t overhead = 512;  // of an execution

std::uint64_t size_of(const core::Append& append) {
  return sizeof(core::Append) + core::bytes_of(append.frames);
}

}  // namespace

LiveStreams::Entry& LiveStreams::entry(const ExecutionId& id) {
  auto [found, is_new] = entries_.try_emplace(id);
  auto& entry = found->second;
  if (is_new) {
    entry.use = uses_.insert(uses_.begin(), id);
    count(entry, overhead);
  } else {
    uses_.splice(uses_.begin(), uses_, entry.use);
  }
  return entry;
}

void LiveStreams::count(Entry& entry, std::int64_t bytes) {
  entry.bytes += static_cast<std::uint64_t>(bytes);
  bytes_ += static_cast<std::uint64_t>(bytes);
}

const core::Stream* LiveStreams::find(const ExecutionId& id, std::uint32_t stream) const {
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return nullptr;
  const auto ring = entry->second.rings.find(stream);
  return ring == entry->second.rings.end() ? nullptr : &ring->second.state;
}

const std::deque<core::Append>& LiveStreams::appends(const ExecutionId& id,
                                                     std::uint32_t stream) const {
  static const std::deque<core::Append> none;
  const auto entry = entries_.find(id);
  if (entry == entries_.end()) return none;
  const auto ring = entry->second.rings.find(stream);
  return ring == entry->second.rings.end() ? none : ring->second.appends;
}

void LiveStreams::put(const ExecutionId& id, std::uint32_t stream, const core::Stream& state) {
  entry(id).rings[stream].state = state;
}

void LiveStreams::add(const ExecutionId& id, core::Append append) {
  auto& to = entry(id);
  to.ended_at.reset();
  count(to, static_cast<std::int64_t>(size_of(append)));
  to.rings[append.place.stream].appends.push_back(std::move(append));
}

void LiveStreams::erase_oldest(const ExecutionId& id, std::uint32_t stream) {
  auto& from = entry(id);
  auto& appends = from.rings[stream].appends;
  FF_ASSERT(!appends.empty());
  count(from, -static_cast<std::int64_t>(size_of(appends.front())));
  appends.pop_front();
}

void LiveStreams::end(const ExecutionId& id, TimePoint at) {
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.ended_at) return;
  found->second.ended_at = at;
  ended_.push_back(id);
}

void LiveStreams::erase(const ExecutionId& id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  bytes_ -= found->second.bytes;
  uses_.erase(found->second.use);
  entries_.erase(found);
}

std::vector<ExecutionId> LiveStreams::shrink(TimePoint now) {
  std::vector<ExecutionId> gone;
  const auto let_go = [&](ExecutionId id) {
    erase(id);
    gone.push_back(id);
  };
  for (; !ended_.empty(); ended_.pop_front()) {
    const auto found = entries_.find(ended_.front());
    if (found == entries_.end() || !found->second.ended_at) continue;
    if (*found->second.ended_at + limits::live_kept_after_end > now) break;
    let_go(ended_.front());
  }
  while (bytes_ > bytes_max_ && !uses_.empty()) let_go(uses_.back());
  return gone;
}

}  // namespace ff::embedded
