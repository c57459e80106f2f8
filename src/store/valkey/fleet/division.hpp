// Division of a store's work among the processes that live on it: partitions among those that sweep, waiting
// executions among those whose workers claim. A pure function of who lives, so that all processes with the same
// view divide alike, without a word between them.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/states.hpp>
#include <flowfabric/time.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ff::valkey_store {

// Of the partitions that scanners look after.
enum class Share : std::uint8_t {
  part,  // divided among all processes with `part`
  all,   // whatever others do: its scanners may have a filter
  none,  // others do it
};

}  // namespace ff::valkey_store

namespace ff {
FF_NAMES(valkey_store::Share, "part", "all", "none");
}

namespace ff::valkey_store {

struct Member {
  std::string process;
  bool sweeps = false;  // runs scanners
  bool claims = false;  // its workers ask for work
  bool operator==(const Member&) const = default;
};

// How processes show each other that they live.
struct Pace {
  Millis interval{1'500};  // between two signs of life
  Millis lives{3'200};     // after the last one
};

// By rendezvous hashing: a process that comes or goes moves only its own share. Immutable.
class Division {
 public:
  // A process that does everything itself.
  Division() = default;
  Division(std::string_view self, const std::vector<Member>& members);

  // Whether scanners of this process look after a partition; partitions are named by their hash tags. True if
  // it is not one that sweeps: it does so without the others.
  bool sweeps(std::string_view tag) const;

  // Rank of this process among those that may claim an execution, 0 is the first. `maker`, the process that
  // made it ready, comes before the others if it claims at all: it needs no message to learn of the work.
  std::size_t rank(const ExecutionId& id, std::string_view maker = {}) const;

  bool claims() const { return claims_; }
  // Processes whose workers ask for work; 0: they are not known.
  std::size_t claimers() const { return claimers_.size(); }
  // Differs from process to process.
  std::uint64_t seed() const { return self_; }
  bool operator==(const Division&) const = default;

 private:
  std::uint64_t self_ = 0;  // hash of this process's name
  bool sweeps_ = true;
  bool claims_ = true;
  // Hashes of the names of all, this process among them.
  std::vector<std::uint64_t> sweepers_;
  std::vector<std::uint64_t> claimers_;
};

}  // namespace ff::valkey_store
