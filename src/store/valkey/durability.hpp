// Guarantees behind the acknowledgement of operations that must not be lost.
#pragma once

#include <flowfabric/states.hpp>

namespace ff::valkey_store {

enum class Durability : std::uint8_t {
  server,    // as Valkey is set up
  fsync,     // in the append-only file of the primary, on its disk
  replicas,  // that, and in the append-only file of a replica
};

}  // namespace ff::valkey_store

namespace ff {
FF_NAMES(valkey_store::Durability, "server", "fsync", "replicas");
}
