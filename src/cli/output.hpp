// How commands print what they got.
#pragma once

#include <flowfabric/client.hpp>

#include "cli/exit_code.hpp"

namespace ff::cli {

// One line of JSON, with the fields of the HTTP API.
void print_json(const SubmitReply& reply);
void print_json(const ExecutionInfo& execution);

// A line per field, values in one column.
void print_fields(const ExecutionInfo& execution);

// The bytes of a result, as they are, waiting for it up to `timeout`.
Result<ExitCode> print_result(Client& client, const ExecutionId& id, Millis timeout);

}  // namespace ff::cli
