// An execution as it stands in Valkey, read back into what core knows.
#pragma once

#include <vector>

#include "core/execution/execution.hpp"
#include "store/valkey/client_names.hpp"

namespace ff::valkey_store {

struct Record {
  core::Execution execution;            // with its newest attempt
  std::vector<core::Attempt> attempts;  // those that were asked for, the oldest first
};

// Of ff_get's reply: core, tags, policy, attempts.
Result<Record> read_record(const ExecutionId& id, std::vector<Reply> parts);

// How a suspension ended: cause, time, suspension and reason, joined by byte 31. None if it is not that.
std::optional<Wake> wake_in(std::string_view text);

}  // namespace ff::valkey_store
