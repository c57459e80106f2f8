#include "cli/output/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

#include "base/text/rfc3339.hpp"
#include "base/text/utf8.hpp"
#include "cli/input/duration.hpp"

namespace ff::cli {
namespace {

constexpr std::string_view unit = "_ms";

bool is_time(std::string_view name) {
  return name.ends_with("at_ms") || name.ends_with("until_ms") || name == "deadline_ms" ||
         name == "attempt_deadline_ms" || name.ends_with("since_ms");
}

bool is_execution_id(std::string_view name) {
  return name == "id" || name == "execution_id" || name == "running" || name == "result" ||
         name == "parent";
}

using Line = std::pair<std::string, Cell>;

// An inner object's fields have its name before theirs. The state vector only says the state in more
// words, so it is left to programs.
void add_lines(std::vector<Line>& lines, const std::string& prefix, const json::object& object) {
  for (const auto& field : object) {
    const std::string_view name = field.key();
    if (field.value().is_object()) {
      if (name != "state_vector")
        add_lines(lines, prefix + std::string(name) + ".", field.value().get_object());
      continue;
    }
    auto text = for_people(name, field.value());
    const auto colour = colour_of(text);
    lines.push_back({prefix + label(name), {std::move(text), colour}});
  }
}

}  // namespace

std::string short_id(const ExecutionId& id) {
  return fmt::format("{}-{}", id.partition(), id.uuid().str());
}

std::string for_people(std::string_view name, const json::value& value) {
  if (value.is_string()) {
    if (is_execution_id(name))
      if (const auto id = ExecutionId::parse(value.get_string())) return short_id(*id);
    return printable(value.get_string(), std::string::npos);
  }
  if (value.is_double()) return fmt::format("{}", value.get_double());
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const auto& part : value.get_array()) parts.push_back(for_people(name, part));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  if (!name.ends_with(unit) || !value.is_int64()) return json::serialize(value);
  const Millis number{value.get_int64()};
  return is_time(name) ? to_rfc3339(TimePoint{number}) : format_duration(number);
}

std::string label(std::string_view name) {
  if (name.ends_with(unit)) name.remove_suffix(unit.size());
  return std::string(name);
}

Colour colour_of(std::string_view value) {
  if (value == "completed" || value == "success") return Colour::green;
  if (value == "failed" || value == "expired" || value == "failure" || value == "exhausted")
    return Colour::red;
  if (value == "active" || value == "running" || value == "claimed") return Colour::blue;
  if (value == "skipped") return Colour::dim;
  if (value == "paused" || value == "building" || value == "delayed" || value == "cancelled" ||
      value == "retry_scheduled" || value == "rate_limited" || value == "draining" ||
      value == "suspended")
    return Colour::yellow;
  return Colour::none;
}

void flush_output() {
  errno = std::ferror(stdout) != 0 ? EIO : 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

void print_json(const json::object& object) { fmt::print("{}\n", json::serialize(object)); }

void print_object(const Context& context, const json::object& object) {
  if (context.json) return print_json(object);
  std::vector<Line> lines;
  add_lines(lines, "", object);
  std::size_t width = 0;
  for (const auto& [name, cell] : lines) width = std::max(width, name.size());
  const bool colours = standard_output().colours;
  for (const auto& [name, cell] : lines)
    fmt::print("{:<{}}  {}\n", name, width, colours ? coloured(cell.text, cell.colour) : cell.text);
}

std::string table_of(std::span<const FieldColumn> columns, std::span<const json::object> rows,
                     const Screen& screen) {
  // A column in which nothing stands says nothing.
  std::vector<FieldColumn> used;
  for (const auto& column : columns)
    if (rows.empty() || std::ranges::any_of(rows, [&](const json::object& row) {
          const auto* value = row.if_contains(column.field);
          return value && *value != "";
        }))
      used.push_back(column);

  std::vector<Column> shown;
  for (const auto& column : used) {
    const bool numbers = !std::string_view(column.field).ends_with(unit) && !rows.empty() &&
                         std::ranges::all_of(rows, [&](const json::object& row) {
                           const auto* value = row.if_contains(column.field);
                           return value && value->is_number();
                         });
    shown.push_back({.title = label(column.field),
                     .fit = column.fit,
                     .align = numbers ? Column::Align::right : Column::Align::left});
  }
  Table table(std::move(shown));
  for (const auto& row : rows) {
    std::vector<Cell> cells;
    for (const auto& column : used) {
      const auto* value = row.if_contains(column.field);
      auto text = value ? for_people(column.field, *value) : "";
      const auto colour = colour_of(text);
      cells.push_back({std::move(text), colour});
    }
    table.add(std::move(cells));
  }
  return table.str(screen);
}

void print_rows(const Context& context, std::span<const FieldColumn> columns,
                std::span<const json::object> rows) {
  if (!context.json) {
    fmt::print("{}", table_of(columns, rows, standard_output()));
    return;
  }
  for (const auto& row : rows) print_json(row);
}

void print_bytes(const Context& context, const char* name, const ExecutionId& id,
                 const Bytes& bytes) {
  if (context.json) {
    http::FieldWriter fields;
    fields.word("id", id.str());
    if (!bytes.absent) fields.write_bytes(name, bytes.bytes);
    return print_json(fields.finish());
  }
  std::fwrite(bytes.bytes.data(), 1, bytes.bytes.size(), stdout);
  if (standard_output().terminal && !bytes.bytes.ends_with('\n')) std::fputc('\n', stdout);
}

}  // namespace ff::cli
