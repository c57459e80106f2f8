// The bulk jobs of the embedded store, in memory and on disk.
#pragma once

#include "core/bulks/commands.hpp"
#include "store/embedded/resources/shelf.hpp"

namespace ff::embedded {

// Not thread-safe.
class Bulks {
 public:
  Result<void> restore(const Database& database);

  Result<core::CreateBulkReply> execute(const core::CreateBulk& command, Turn& turn);
  Result<core::Bulk> execute(const core::ReadBulk& query, Turn& turn);
  Result<bool> execute(const core::SaveBulk& command, Turn& turn);
  Result<std::vector<core::Bulk>> execute(const core::FindBulks& query, Turn& turn);
  Result<std::size_t> execute(const core::ForgetBulks& command, Turn& turn);

 private:
  using Entry = Shelf<core::Bulk>::Entry;

  void note(const core::Bulk& bulk);
  void forget(const BulkId& id, Turn& turn);
  std::size_t count_running(const Namespace& ns) const;
  std::optional<BulkId> oldest_ended(const Namespace& ns) const;

  Shelf<core::Bulk> shelf_;
  std::set<BulkId> running_;
  std::set<std::pair<TimePoint, BulkId>> ended_;  // by their end
};

}  // namespace ff::embedded
