// How commands print what they got.
#pragma once

#include <flowfabric/client.hpp>

#include "cli/exit_code.hpp"
#include "http/wire.hpp"

namespace ff::cli {

void print_json(const boost::json::object& object);     // one line
void print_fields(const boost::json::object& object);  // a line per field, values in one column

template <class T>
void print_json(const T& value) {
  print_json(http::to_fields(value));
}
template <class T>
void print_fields(const T& value) {
  print_fields(http::to_fields(value));
}

// The bytes of a result, as they are, waiting for it up to `timeout`.
Result<ExitCode> print_result(Client& client, const ExecutionId& id, Millis timeout);

}  // namespace ff::cli
