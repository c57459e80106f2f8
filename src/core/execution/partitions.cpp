#include "core/execution/partitions.hpp"

#include "base/assert.hpp"
#include "base/text/hash.hpp"

namespace ff::core {

PartitionIndex partition_of(const Uuid& uuid, PartitionIndex partition_count) {
  FF_ASSERT(partition_count > 0);
  return static_cast<PartitionIndex>(crc16(uuid.bytes()) % partition_count);
}

PartitionIndex partition_of(const Namespace& ns, const IdempotencyKey& key,
                            PartitionIndex partition_count) {
  FF_ASSERT(partition_count > 0);
  // A namespace has no blank, so no two pairs are spelled alike.
  const auto text = ns.str() + ' ' + key.str();
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  return static_cast<PartitionIndex>(crc16(bytes) % partition_count);
}

}  // namespace ff::core
