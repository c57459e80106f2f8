// Partitions: the units that state is divided into. One command changes one of them.
#pragma once

#include <flowfabric/ids.hpp>

namespace ff::core {

// How many a deployment has; fixed when its store is made.
inline constexpr PartitionIndex partition_count_default = 256;

// Stands in the id of a submit for the partition that its UUID belongs to: a client that mints an id need
// not know how many there are.
inline constexpr PartitionIndex partition_by_uuid = 65'535;

// Where an execution that belongs to no flow lives: spread by its own id, so that a busy lane is not
// one busy partition.
PartitionIndex partition_of(const Uuid& uuid, PartitionIndex partition_count);

// Where an execution with an idempotency key lives: all that are submitted with it meet there.
PartitionIndex partition_of(const Namespace& ns, const IdempotencyKey& key,
                            PartitionIndex partition_count);

}  // namespace ff::core
