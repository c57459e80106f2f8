// Looking through executions by namespace, tag and time.
#pragma once

#include "store/embedded/disk/database.hpp"
#include "store/embedded/disk/retention_mark.hpp"
#include "store/store.hpp"

namespace ff::embedded {

// One page. invalid_input if the cursor is not one of ours.
// The cursor of a page that ends with this execution.
std::string list_cursor(TimePoint created_at, const ExecutionId& id);
// The bytes of a cursor, which stand behind the prefix of an index by time.
Result<std::string> from_cursor(const std::string& text);
Result<ExecutionList> list(const Database& database, const ListExecutions& query, TimePoint now);

// None if there is none.
Result<std::optional<core::Execution>> load_execution(const Database& database,
                                                      const ExecutionId& id);

// The first `max` whose retention has run out.
Result<store::DueReply> retention_due(const Database& database, RetentionMark& mark, TimePoint now,
                                      std::size_t max);

}  // namespace ff::embedded
