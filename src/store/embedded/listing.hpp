// Looking through executions by namespace, tag and time.
#pragma once

#include "store/embedded/disk/database.hpp"
#include "store/embedded/disk/retention_mark.hpp"
#include "store/store.hpp"

namespace ff::embedded {

// One page. invalid_input if the cursor is not one of ours.
// The cursor of a page that ends with this execution.
std::string list_cursor(TimePoint created_at, const ExecutionId& id);
Result<ExecutionList> list(const Database& database, const ListExecutions& query);

// The first `max` whose retention has run out.
Result<store::DueReply> retention_due(const Database& database, RetentionMark& mark, TimePoint now,
                                      std::size_t max);

}  // namespace ff::embedded
