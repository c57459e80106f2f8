#include "base/rotation.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/text/hash.hpp"

namespace ff {
namespace {

constexpr int cursor_bits = 16;
constexpr std::uint64_t cursor_mask = (1u << cursor_bits) - 1;
constexpr std::uint64_t window_mask = ~std::uint64_t{0} >> cursor_bits;

// A call that read the clock before another moved on belongs to the other's window: a step back and
// forth would skip partitions. If time is further behind than this, the clock was set back.
constexpr std::uint64_t windows_late_max = 4;

}  // namespace

PartitionRotation::PartitionRotation(Config config)
    : partitions_(config.partition_count),
      step_(std::max<std::uint32_t>(config.partitions_per_scan_max, 1)),
      window_(std::max(config.window, Millis{1})) {
  FF_ASSERT(config.partition_count > 0);
}

std::vector<PartitionIndex> PartitionRotation::scan(std::string_view who, TimePoint now) {
  const std::uint32_t start =
      fnv1a_u16_mod(who, static_cast<PartitionIndex>(partitions_)) + cursor(now);
  std::vector<PartitionIndex> visited(std::min(step_, partitions_));
  for (std::uint32_t k = 0; k < visited.size(); ++k)
    visited[k] = static_cast<PartitionIndex>((start + k) % partitions_);
  return visited;
}

// One step per window that is seen, however many have passed unseen in between.
std::uint32_t PartitionRotation::cursor(TimePoint now) {
  const auto window = static_cast<std::uint64_t>(now.time_since_epoch() / window_) & window_mask;
  auto position = position_.load();
  for (;;) {
    const auto cursor = static_cast<std::uint32_t>(position & cursor_mask);
    const auto late = ((position >> cursor_bits) - window) & window_mask;
    if (late <= windows_late_max) return cursor;
    const auto next = (cursor + step_) % partitions_;
    if (position_.compare_exchange_weak(position, window << cursor_bits | next)) return next;
  }
}

}  // namespace ff
