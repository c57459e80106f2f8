// Audit operations of the engine, beside ReadAudit.
#pragma once

#include <flowfabric/limits.hpp>
#include <flowfabric/operations.hpp>

namespace ff::core {

// Adds an entry, whose id and time the store decides, and removes the oldest beyond `entries_max`.
struct AppendAudit {
  using Reply = Done;
  static constexpr OperationRow row{.owner = Owner::audit, .writes = Writes::durable};
  AuditEntry entry;
  std::uint64_t entries_max = limits::audit_entries_default;
};

// Removes entries from before a time, at most `max`. Returns how many it removed.
struct TrimAudit {
  using Reply = std::size_t;
  static constexpr OperationRow row{.owner = Owner::audit, .writes = Writes::logged};
  TimePoint before;
  std::size_t max;
};

// Whether an entry is one that a query asks for, whatever its time.
bool matches(const ReadAudit& query, const AuditEntry& entry);

// The error of an `after` that no page gave.
std::unexpected<Error> wrong_audit_cursor();

// One call looks at so many entries, whether they match or not.
inline constexpr std::size_t audit_looked_at_max = 10'000;

}  // namespace ff::core
