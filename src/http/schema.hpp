// JSON Schema of the types that travel, from the same descriptions that read and write them.
#pragma once

#include <flowfabric/limits.hpp>

#include <map>
#include <string>
#include <typeinfo>

#include <boost/core/demangle.hpp>

#include "http/descriptions.hpp"
#include "http/wire.hpp"

namespace ff::http {

// The structs that schemas refer to by name.
using NamedSchemas = std::map<std::string, json::object>;

template <class T>
json::object schema_of(NamedSchemas& named);

inline json::object type_schema(std::string_view type) { return {{"type", type}}; }
inline json::object reference(const std::string& name) {
  return {{"$ref", "#/components/schemas/" + name}};
}

// The schema of a field of a struct, with what is to be said about it.
inline json::object described(std::string_view owner, std::string_view name, json::object schema) {
  const auto* type = schema.if_contains("type");
  const auto text = description_of(
      {owner, name, type ? std::string_view(type->get_string()) : std::string_view{}});
  if (!text.empty()) schema["description"] = text;
  return schema;
}

// A struct's name without its namespaces.
template <class T>
std::string name_of() {
  const auto full = boost::core::demangle(typeid(T).name());
  return full.substr(full.rfind(':') + 1);
}

// A visitor of descriptions that writes down their fields.
class SchemaWriter {
 public:
  // `owner`: the name of the struct that the fields belong to.
  SchemaWriter(NamedSchemas& named, std::string owner) : named_(named), owner_(std::move(owner)) {}

  template <class T>
  void required(std::string_view name, const T&) {
    add(name, schema_of<T>(named_));
    required_.emplace_back(name);
  }
  template <class T>
  void defaulted(std::string_view name, const T& value) {
    auto schema = schema_of<T>(named_);
    if (!schema.contains("$ref")) schema["default"] = Codec<T>::write(value);
    add(name, std::move(schema));
  }
  template <class T>
  void optional(std::string_view name, const std::optional<T>&) {
    add(name, schema_of<T>(named_));
  }
  template <class Bytes>
  void bytes(std::string_view name, const Bytes&) {
    add(name, type_schema("string"));
    add(std::string(name) + "_base64", {{"type", "string"}, {"contentEncoding", "base64"}});
  }
  void fence(const Fence& value) {
    required("lease_id", value.lease_id);
    required("lease_epoch", value.lease_epoch);
    required("attempt_id", value.attempt_id);
  }
  void fence(const std::optional<Fence>&) {
    const Fence value;
    optional("lease_id", std::optional(value.lease_id));
    optional("lease_epoch", std::optional(value.lease_epoch));
    optional("attempt_id", std::optional(value.attempt_id));
  }
  template <class Describe>
  void group(std::string_view name, Describe describe_fields) {
    SchemaWriter inner(named_, owner_);
    describe_fields(inner);
    add(name, inner.finish());
  }
  void constant(std::string_view name, std::string_view value) { word(name, {.usual = value}); }
  void word(std::string_view name, const Words& words) {
    json::array values{words.usual};
    if (!words.otherwise.empty()) values.emplace_back(words.otherwise);
    add(name, {{"type", "string"}, {"enum", std::move(values)}});
    required_.emplace_back(name);
  }

  json::object finish() {
    json::object schema{{"type", "object"}, {"properties", std::move(properties_)}};
    if (!required_.empty()) schema["required"] = std::move(required_);
    return schema;
  }

 private:
  void add(std::string_view name, json::object schema) {
    properties_[name] = described(owner_, name, std::move(schema));
  }

  NamedSchemas& named_;
  std::string owner_;
  json::object properties_;
  json::array required_;
};

template <class T>
concept Described = requires(SchemaWriter& fields, T& value) {
  describe(fields, value);
};

// ---- One schema per type that has a codec ----------------------------------------------------------

template <class T>
struct Schema;

template <>
struct Schema<std::string> {
  static json::object make(NamedSchemas&) { return type_schema("string"); }
};
template <>
struct Schema<bool> {
  static json::object make(NamedSchemas&) { return type_schema("boolean"); }
};
template <>
struct Schema<double> {
  static json::object make(NamedSchemas&) { return type_schema("number"); }
};
template <std::integral T>
struct Schema<T> {
  static json::object make(NamedSchemas&) {
    auto schema = type_schema("integer");
    if constexpr (std::unsigned_integral<T>) schema["minimum"] = 0;
    return schema;
  }
};
template <>
struct Schema<Millis> {
  static json::object make(NamedSchemas&) {
    return {{"type", "integer"}, {"description", "milliseconds"}};
  }
};
template <>
struct Schema<TimePoint> {
  static json::object make(NamedSchemas&) {
    return {{"type", "integer"}, {"description", "milliseconds since the Unix epoch"}};
  }
};
template <>
struct Schema<LeaseEpoch> {
  static json::object make(NamedSchemas&) { return {{"type", "integer"}, {"minimum", 0}}; }
};
template <Named E>
struct Schema<E> {
  static json::object make(NamedSchemas&) {
    return {{"type", "string"},
            {"enum", json::array(Names<E>::values.begin(), Names<E>::values.end())}};
  }
};
template <>
struct Schema<ExecutionId> {
  static json::object make(NamedSchemas&) {
    return {{"type", "string"}, {"pattern", R"(^\{fp:[0-9]+\}:[0-9a-f-]{36}$)"}};
  }
};
template <>
struct Schema<TraceParent> {
  static json::object make(NamedSchemas&) {
    return {{"type", "string"}, {"pattern", "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"}};
  }
};
template <class Tag>
struct Schema<UuidId<Tag>> {
  static json::object make(NamedSchemas&) { return {{"type", "string"}, {"format", "uuid"}}; }
};
template <const TextRule& rule>
struct Schema<TextId<rule>> {
  static json::object make(NamedSchemas&) {
    return {{"type", "string"}, {"minLength", 1}, {"maxLength", rule.bytes_max}};
  }
};
template <class T>
struct Schema<std::vector<T>> {
  static json::object make(NamedSchemas& named) {
    return {{"type", "array"}, {"items", schema_of<T>(named)}};
  }
};
template <>
struct Schema<Tags> {
  static json::object make(NamedSchemas&) {
    return {{"type", "object"}, {"additionalProperties", type_schema("string")}};
  }
};
template <>
struct Schema<Amounts> {
  static json::object make(NamedSchemas& named) {
    return {{"type", "object"}, {"additionalProperties", schema_of<std::uint64_t>(named)}};
  }
};
template <>
struct Schema<CapabilitySet> {
  static json::object make(NamedSchemas&) {
    return {{"type", "array"}, {"items", type_schema("string")}};
  }
};

// A struct, under its name.
template <Described T>
struct Schema<T> {
  static json::object make(NamedSchemas& named) {
    const auto name = name_of<T>();
    if (named.try_emplace(name).second) {
      SchemaWriter fields(named, name);
      T value;
      describe(fields, value);
      named[name] = fields.finish();
    }
    return reference(name);
  }
};

template <>
struct Schema<Backoff> {
  static json::object make(NamedSchemas& named) {
    return {{"oneOf",
             json::array{schema_of<ExponentialBackoff>(named), schema_of<FixedBackoff>(named)}}};
  }
};

template <class T>
struct Schema<Result<T>> {
  static json::object make(NamedSchemas& named) {
    const auto status = [](std::string_view word) {
      return json::object{{"type", "string"}, {"enum", json::array{word}}};
    };
    const json::object ok{
        {"allOf", json::array{schema_of<T>(named),
                              json::object{{"type", "object"},
                                           {"properties", json::object{{"status", status("ok")}}},
                                           {"required", json::array{"status"}}}}}};
    const json::object error{
        {"type", "object"},
        {"properties", json::object{{"status", status("error")}, {"error", reference("Problem")}}},
        {"required", json::array{"status", "error"}}};
    return {{"oneOf", json::array{ok, error}}};
  }
};

template <class T>
json::object schema_of(NamedSchemas& named) {
  return Schema<T>::make(named);
}

}  // namespace ff::http
