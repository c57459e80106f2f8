// The audit log of the embedded store: entries under numbers without gaps.
#pragma once

#include "core/audit/commands.hpp"
#include "store/embedded/resources/turn.hpp"

namespace ff::embedded {

// Not thread-safe.
class AuditLog {
 public:
  Result<void> restore(const Database& database);

  Result<Done> execute(const core::AppendAudit& command, Turn& turn);
  Result<std::size_t> execute(const core::TrimAudit& command, Turn& turn);

 private:
  void remove_oldest(Turn& turn);

  std::uint64_t first_ = 1;
  std::uint64_t next_ = 1;
};

// A page of the log; from any thread.
Result<AuditPage> read_audit(const Database& database, const ReadAudit& query);

}  // namespace ff::embedded
