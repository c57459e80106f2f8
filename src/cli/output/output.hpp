// How commands print what they got. The fields are those of the HTTP API; with --json they are printed
// as they are, one object per line.
#pragma once

#include <flowfabric/operations.hpp>

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "cli/command.hpp"
#include "cli/output/table.hpp"

namespace ff::cli {

namespace json = boost::json;

// The form of an id that needs no quotes in a shell or a URL.
std::string short_id(const ExecutionId& id);

// A field's value for a person: times and durations are readable, texts safe to show, ids short.
std::string for_people(std::string_view name, const json::value& value);
std::string label(std::string_view name);
Colour colour_of(std::string_view value);  // of a state, an outcome or an event

// Sends what was printed so far. Throws std::system_error if it cannot be written, as fmt::print does: the program
// then ends with that error.
void flush_output();

void print_json(const json::object& object);

// An object: for a person a line per field, values in one column, inner objects field by field.
void print_object(const Context& context, const json::object& object);

// Objects: for a person a table of those of their fields that say something.
struct FieldColumn {
  const char* field;
  Column::Fit fit = Column::Fit::cut;
};
std::string table_of(std::span<const FieldColumn> columns, std::span<const json::object> rows,
                     const Screen& screen);
void print_rows(const Context& context, std::span<const FieldColumn> columns,
                std::span<const json::object> rows);

// Bytes as they are, or with --json under `name` beside the id.
void print_bytes(const Context& context, const char* name, const ExecutionId& id,
                 const Bytes& bytes);

template <class T>
std::vector<json::object> fields_of(const std::vector<T>& values) {
  std::vector<json::object> objects;
  for (const auto& value : values) objects.push_back(http::to_fields(value));
  return objects;
}

}  // namespace ff::cli
