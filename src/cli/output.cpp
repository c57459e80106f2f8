#include "cli/output.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/utf8.hpp"
#include "http/wire.hpp"

namespace ff::cli {
namespace {

namespace json = boost::json;

// Times come as milliseconds since the epoch; people read dates.
std::string for_people(std::string_view name, const json::value& value) {
  if (name.ends_with("_at_ms") && value.is_int64()) {
    const auto ms = value.get_int64();
    return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03} UTC", fmt::gmtime(std::time_t(ms / 1000)),
                       ms % 1000);
  }
  return value.is_string() ? printable(value.get_string(), std::string::npos)
                           : json::serialize(value);
}

std::string_view label(std::string_view name) {
  return name.ends_with("_at_ms") ? name.substr(0, name.size() - 3) : name;
}

void print_line(const json::object& object) { fmt::print("{}\n", json::serialize(object)); }

}  // namespace

void print_json(const SubmitReply& reply) { print_line(http::to_fields(reply)); }
void print_json(const ExecutionInfo& execution) { print_line(http::to_fields(execution)); }

void print_fields(const ExecutionInfo& execution) {
  const auto object = http::to_fields(execution);
  std::size_t width = 0;
  for (const auto& field : object) width = std::max(width, label(field.key()).size());
  for (const auto& field : object)
    fmt::print("{:<{}}  {}\n", label(field.key()), width, for_people(field.key(), field.value()));
}

Result<ExitCode> print_result(Client& client, const ExecutionId& id, Millis timeout) {
  // A wait would try again and again to reach a server that may not be there.
  if (auto known = client.state(id); !known) return std::unexpected(std::move(known.error()));
  auto result = client.result(id, timeout);
  if (!result) return std::unexpected(std::move(result.error()));
  std::fwrite(result->data(), 1, result->size(), stdout);
  if (::isatty(STDOUT_FILENO) && !result->ends_with('\n')) std::fputc('\n', stdout);
  return ExitCode::ok;
}

}  // namespace ff::cli
