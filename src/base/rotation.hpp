// Which partitions a call looks at when it must not look at all of them.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/time.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ff {

// A bounded run of partitions that moves on by its own length once per time window, and starts
// elsewhere for each worker. A worker that asks in every window meets every partition within
// ceil(partition_count / partitions_per_scan_max) windows, provided that one object serves all calls.
// Thread-safe.
class PartitionRotation {
 public:
  struct Config {
    PartitionIndex partition_count;  // at least 1
    std::uint16_t partitions_per_scan_max = 32;
    Millis window{250};
  };

  explicit PartitionRotation(Config config);

  // The partitions that `who` visits at `now`, in order, each once.
  std::vector<PartitionIndex> scan(std::string_view who, TimePoint now);

 private:
  std::uint32_t cursor(TimePoint now);

  // Wider than a partition index: sums of two indexes do not fit into 16 bits.
  std::uint32_t partitions_;
  std::uint32_t step_;
  Millis window_;
  std::atomic<std::uint64_t> position_{
      0};  // window number in the high 48 bits, cursor in the low 16
};

}  // namespace ff
