// The store's part of schedules. What a schedule does is decided outside of the store (core/schedules/schedule.hpp):
// a store keeps each as bytes under a version, and tells which of them are due.
#pragma once

#include <flowfabric/ids.hpp>
#include <flowfabric/operation_row.hpp>
#include <flowfabric/time.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ff::core {

struct ScheduleKey {
  Namespace ns;
  ScheduleName name;

  // No name has a slash.
  std::string text() const { return ns.str() + '/' + name.str(); }
  auto operator<=>(const ScheduleKey&) const = default;
};

struct StoredSchedule {
  std::string record;
  Uuid version;  // another one after each change
  bool operator==(const StoredSchedule&) const = default;
};

struct ReadSchedule {
  using Reply = std::optional<StoredSchedule>;
  static constexpr OperationRow row{.owner = Owner::schedule};
  ScheduleKey key;
};

// Replaces a schedule if it still has the version `expected`; absent: if there is none. Without `next` it is
// removed. The reply tells whether it was.
struct SwapSchedule {
  using Reply = bool;
  static constexpr OperationRow row{.owner = Owner::schedule, .writes = Writes::durable};
  ScheduleKey key;
  std::optional<Uuid> expected = {};
  std::optional<StoredSchedule> next = {};
  std::optional<TimePoint> due = {};  // when it is to be looked at; absent: never
};

struct SchedulesDueReply {
  std::vector<ScheduleKey> due;        // the longest overdue first
  std::optional<TimePoint> next = {};  // when the first of the others comes due
};

// Schedules of all namespaces that are due by now, at most `max`.
struct SchedulesDue {
  using Reply = SchedulesDueReply;
  static constexpr OperationRow row{.owner = Owner::schedule};
  std::size_t max;
};

// The schedules of a namespace by name after `after`, at most `max`.
struct FindSchedules {
  using Reply = std::vector<ScheduleName>;
  static constexpr OperationRow row{.owner = Owner::schedule};
  Namespace ns;
  std::optional<ScheduleName> after = {};
  std::size_t max;
};

struct CountSchedules {
  using Reply = std::uint64_t;
  static constexpr OperationRow row{.owner = Owner::schedule};
  Namespace ns;
};

}  // namespace ff::core
