// Names of keys and channels. The same names are in lua/lib/keys.lua.
#pragma once

#include <flowfabric/ids.hpp>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "valkey/cluster/slot.hpp"

namespace ff::valkey_store::keys {

inline std::string tag(PartitionIndex partition) { return fmt::format("{{fp:{}}}", partition); }

// A partition, of whatever: everything of it has its tag, and so its slot.
struct Partition {
  explicit Partition(std::string hash_tag) : tag(std::move(hash_tag)), slot(valkey::slot_of(tag)) {}

  std::string tag;
  std::uint16_t slot;
};

// A key, and the partition that it lives in.
struct Address {
  Partition place;
  std::string key;
};

inline std::string of_execution(const ExecutionId& id, std::string_view what) {
  return fmt::format("ff:exec:{}:{}:{}", tag(id.partition()), id.str(), what);
}
inline std::string core(const ExecutionId& id) { return of_execution(id, "core"); }

inline std::string flow(std::string_view tag, const FlowId& id) {
  return fmt::format("ff:flow:{}:{}:core", tag, id.str());
}

inline std::string events(std::string_view tag) { return fmt::format("ff:events:{}", tag); }
inline std::string events(PartitionIndex partition) { return events(tag(partition)); }

inline std::string effects(std::string_view tag) { return fmt::format("ff:effects:{}", tag); }

// Nothing is ever stored under it.
inline std::string never(std::string_view tag) { return fmt::format("ff:never:{}", tag); }
// Written to see whether writes are taken, and kept.
inline std::string probe(std::string_view tag) { return fmt::format("ff:probe:{}", tag); }

// All partitions, by what lives in them.
struct Places {
  std::vector<Partition> executions;
  std::vector<Partition> budgets;
  std::vector<Partition> quotas;
};
inline std::string budget_tag(PartitionIndex partition) {
  return fmt::format("{{b:{}}}", partition);
}
inline std::string quota_tag(PartitionIndex partition) {
  return fmt::format("{{q:{}}}", partition);
}
inline std::string workers_tag(const Namespace& ns) { return fmt::format("{{w:{}}}", ns.str()); }
inline std::string budget(std::string_view tag, const BudgetId& id) {
  return fmt::format("ff:budget:{}:{}", tag, id.str());
}
inline std::string quota(std::string_view tag, const QuotaId& id) {
  return fmt::format("ff:quota:{}:{}", tag, id.str());
}
inline std::string workers(std::string_view tag) { return fmt::format("ff:workers:{}", tag); }

// The paused lanes of a store, and its audit log, are each in one place.
inline constexpr std::string_view lanes_tag = "{lanes}";
inline std::string paused_lanes() { return fmt::format("ff:lanes:{}:paused", lanes_tag); }
inline constexpr std::string_view audit_tag = "{audit}";
inline std::string audit_log() { return fmt::format("ff:audit:{}", audit_tag); }

// Of workers of the published contract: a set of instances, and of each instance a record and a sign of
// life. Older programs of it have one set for all, and no namespace in the names.
inline std::string contract_workers(const Namespace& ns) {
  return fmt::format("ff:idx:{}:workers", ns.str());
}
inline std::string contract_worker(const Namespace& ns, std::string_view instance,
                                   std::string_view what) {
  return fmt::format("ff:worker:{}:{}:{}", ns.str(), instance, what);
}
inline constexpr std::string_view old_contract_workers = "ff:idx:workers";
inline std::string old_contract_worker(std::string_view instance, std::string_view what) {
  return fmt::format("ff:worker:{}:{}", instance, what);
}

// The secrets that sign the waitpoint tokens of a partition of executions.
inline std::string key_ring(std::string_view tag) {
  return fmt::format("ff:sec:{}:waitpoint_hmac", tag);
}

inline constexpr std::string_view partition_config = "ff:config:partitions";

// Between namespace and lane in the name of a queue; neither may hold it.
inline constexpr char queue_separator = '\x1e';
inline std::string queue(const Namespace& ns, const LaneId& lane) {
  return ns == default_namespace() ? lane.str() : ns.str() + queue_separator + lane.str();
}
// The name of a lane among the paused ones always has its namespace.
inline std::string paused_lane(const Namespace& ns, const LaneId& lane) {
  return ns.str() + queue_separator + lane.str();
}

}  // namespace ff::valkey_store::keys
