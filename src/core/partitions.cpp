#include "core/partitions.hpp"

#include "base/assert.hpp"
#include "base/hash.hpp"

namespace ff::core {

PartitionIndex partition_of(const Uuid& uuid, PartitionIndex partition_count) {
  FF_ASSERT(partition_count > 0);
  return static_cast<PartitionIndex>(crc16(uuid.bytes()) % partition_count);
}

}  // namespace ff::core
