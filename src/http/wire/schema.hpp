// JSON Schema of the types that travel, from the same descriptions that read and write them.
#pragma once

#include <span>
#include <string>
#include <typeinfo>

#include "http/wire/json_fields.hpp"

namespace ff::http {

inline json::object type_schema(std::string_view type) { return {{"type", type}}; }
json::object reference(const std::string& name);

// The schema of a field of a struct, with what is to be said about it.
json::object described(std::string_view owner, std::string_view name, json::object schema);

// A struct's name without its namespaces.
std::string name_of(const std::type_info& type);

// Visits descriptions and writes down their fields.
class SchemaWriter final : public Fields {
 public:
  // `owner`: the name of the struct that the fields belong to.
  SchemaWriter(NamedSchemas& named, std::string owner) : named_(named), owner_(std::move(owner)) {}

  // One of these texts.
  void words(std::string_view name, std::span<const std::string_view> texts);
  void constant(std::string_view name, std::string_view value) override {
    words(name, {&value, 1});
  }
  void bytes(std::string_view name, std::string& value) override;
  void bytes(std::string_view name, std::optional<std::string>& value) override;
  void time(std::string_view name, std::string_view delay_name, TimePoint& value) override;
  void time(std::string_view name, std::string_view delay_name,
            std::optional<TimePoint>& value) override;
  void fence(Fence& value) override;
  void fence(std::optional<Fence>& value) override;
  void group(std::string_view name, const Describe& describe_fields) override;

  json::object finish();

 private:
  void visit(const Field& field) override;
  bool json_bytes(std::string_view name, std::string& text) override;
  void add(std::string_view name, json::object schema);

  NamedSchemas& named_;
  std::string owner_;
  json::object properties_;
  json::array required_;
};

// A reference to the schema of a struct, which is then among the named ones.
json::object named_schema(NamedSchemas& named, const std::string& name,
                          void (*describe_default)(Fields&));

// Describes a struct as it is by default.
template <Described T>
void describe_default(Fields& fields) {
  T value;
  describe(fields, value);
}

template <Described T>
json::object schema_of(NamedSchemas& named) {
  return named_schema(named, name_of(typeid(T)), &describe_default<T>);
}

}  // namespace ff::http
