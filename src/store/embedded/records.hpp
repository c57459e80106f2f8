// Executions as bytes on disk (proto/records.proto), and back.
#pragma once

#include <string>
#include <string_view>

#include "core/execution.hpp"

namespace ff::embedded {

std::string encode(const core::Execution& execution);

// Everything is checked; what does not hold is store_damaged.
Result<core::Execution> decode(const ExecutionId& id, std::string_view bytes);

}  // namespace ff::embedded
