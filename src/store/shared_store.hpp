// A store on which several processes work, each with its share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ff::store {

// Of this process.
struct Sharing {
  std::size_t partitions = 0;      // that its scanners look after
  std::uint64_t leases_asked = 0;  // by claims that chose among what waits; another process may be faster
  std::uint64_t leases_got = 0;
};

// Beside Store, for those that are shared. Queries that only scanners ask answer for this process's partitions.
class SharedStore {
 public:
  virtual ~SharedStore() = default;
  virtual Sharing sharing() const = 0;  // any thread
};

}  // namespace ff::store
